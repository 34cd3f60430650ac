"""The tests, and the miniature world they run in."""

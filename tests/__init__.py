"""Tests, and the miniature world in which they run."""

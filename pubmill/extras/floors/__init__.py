"""Floors: scores that need no language model, and how far the scores of a study are above them."""

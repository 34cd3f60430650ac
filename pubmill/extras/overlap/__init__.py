"""Scores split by what the scored items share with training."""

"""Scores of a model on other datasets with mentions of the same type."""

"""Predictions of other systems: their forms, checks, alignment with a dataset's examples, and scores."""

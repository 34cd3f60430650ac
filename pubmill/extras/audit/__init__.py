"""The audit of published values: which of them the stated test splits, runs and rounding can give."""

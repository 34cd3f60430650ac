"""Differences between two commits, studies, settings or sets of runs: recipes, scores, documents, cost."""

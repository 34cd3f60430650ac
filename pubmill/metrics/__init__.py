"""Metrics: pure functions from gold labels and predictions to numbers.

The version of a metric isn't here: it is part of the recipe that a scoring job is given.
"""

from pubmill.metrics.entities import score_entities

METRICS = {"entity_f1": score_entities}
"""Main metric -> the function that gives it, as `(gold, predicted) -> (metrics, counts)`."""

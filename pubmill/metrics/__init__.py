"""Metrics: pure functions from examples and predictions to numbers.

Each module registers its metrics (`pubmill.metrics.registry`); importing this package loads all of them.
Standard library and numpy only, because the trainer also chooses weights by these metrics.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from pubmill.examples.kinds import Example
from pubmill.metrics.answers import score_answers
from pubmill.metrics.classes import score_correlation, score_label_sets, score_labels
from pubmill.metrics.contributions import Scored, units_of
from pubmill.metrics.entities import score_spans, score_tokens
from pubmill.metrics.registry import METRICS, Metric, dev_scores, metrics_of
from pubmill.metrics.relation_sets import score_relations

__all__ = ["METRICS", "Metric", "dev_scores", "metrics_of"]


SCORERS: dict[str, Callable[[Sequence[Any], Sequence[Any], str | None], Scored]] = {
    "tokens": lambda examples, predicted, _: score_tokens(examples, predicted),
    "sequence": lambda examples, predicted, negative: score_labels(
        [one.label for one in examples], predicted, negative, units_of(examples).numbers
    ),
    "multilabel": lambda examples, predicted, _: score_label_sets(
        [one.labels for one in examples], predicted, units_of(examples).numbers
    ),
    "regression": lambda examples, predicted, _: score_correlation(
        [one.score for one in examples], predicted, units_of(examples).numbers
    ),
    "span": lambda examples, predicted, _: score_answers(examples, predicted),
    "relations": lambda examples, predicted, _: score_relations(examples, predicted),
    "mentions": lambda examples, predicted, _: score_spans(examples, predicted, units_of(examples).numbers),
}
"""Kind of examples -> function `(examples, predictions, negative)` that computes all its metrics."""


def dev_score(
    metric: str, kind: str, examples: Sequence[Example], predicted: Sequence[Any], negative: str | None
) -> float:
    """Return the dev score by which weights and trials are chosen for a metric; higher is better. It is 0.0
    where it is not defined (no positive anywhere, constant scores): such weights are never kept."""
    chooses = METRICS[metric].chooses
    assert chooses is not None, f"{metric} has no dev score"
    score = float(chooses(SCORERS[kind](examples, predicted, negative).contributions.totals()))
    return 0.0 if math.isnan(score) else score


def gold_answers(example: Any) -> list[str]:
    """Return the distinct right answers of a question."""
    return list(dict.fromkeys([*(answer.text for answer in example.answers), *example.golds]))


def is_right(example: Any, predicted: Any) -> bool:
    """Return whether a prediction equals the gold; for a question, its first answer any of the gold's."""
    if hasattr(example, "answers"):
        return predicted[0].casefold() in ({text.casefold() for text in gold_answers(example)} or {""})
    own = getattr(example, "score", getattr(example, "label", None))
    return bool(predicted == (example.labels if own is None else own))

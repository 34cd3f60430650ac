"""Metrics: pure functions from examples and predictions to numbers.

Each module registers its metrics (`pubmill.metrics.registry`); importing this package loads all of them.
Standard library and numpy only, because the trainer also chooses weights by these metrics; of records only,
`entity_report` takes entity scores from seqeval.
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


def gold_of(example: Any) -> Any:
    """Return the gold of an example in the form of `plain_prediction`; of a question, its distinct right
    answers."""
    if hasattr(example, "answers"):
        return list(dict.fromkeys([*(answer.text for answer in example.answers), *example.golds]))
    if hasattr(example, "spans"):
        return [list(span) for span in example.spans]
    names = ("score", "relations", "labels", "label")
    return next(getattr(example, name) for name in names if hasattr(example, name))


def plain_prediction(predicted: Any) -> Any:
    """Return a prediction of `read_predictions` without the probabilities of answers, which no gold has."""
    is_ranking = isinstance(predicted, list) and predicted and isinstance(predicted[0], tuple)
    return [text for text, _ in predicted] if is_ranking else predicted


def is_right(example: Any, predicted: Any) -> bool:
    """Return whether a plain prediction equals the gold; for a question, whether its first answer is one of
    the gold answers."""
    gold = gold_of(example)
    if hasattr(example, "answers"):
        return predicted[0].casefold() in ({text.casefold() for text in gold} or {""})
    return bool(predicted == gold)

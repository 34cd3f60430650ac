"""Metrics: pure functions from examples and what is predicted of them to numbers.

Each module registers its metrics (`pubmill.metrics.registry`), which imports of this package load. Standard
library and numpy only, because the trainer chooses weights by these metrics too.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from pubmill.annotation.examples import (
    MultilabelExample,
    RegressionExample,
    SequenceExample,
    SpanExample,
    TokensExample,
)
from pubmill.metrics.answers import Ranked, score_answers
from pubmill.metrics.classes import score_label_sets, score_labels
from pubmill.metrics.contributions import Scored, together, units_of
from pubmill.metrics.correlation import score_correlation
from pubmill.metrics.entities import score_entities, score_relaxed
from pubmill.metrics.registry import METRICS, Metric, dev_scores, measure_of, metrics_of
from pubmill.metrics.word_labels import score_words

__all__ = ["METRICS", "SCORERS", "Metric", "dev_score", "dev_scores", "metrics_of"]


def score_tokens(
    examples: Sequence[TokensExample], predicted: Sequence[Sequence[str]], negative: str | None
) -> Scored:
    """All metrics of BIO labels: exact and relaxed entities, and single words."""
    gold, units = [example.labels for example in examples], units_of(examples).numbers
    parts = [score(gold, predicted, units) for score in (score_entities, score_relaxed, score_words)]
    return together(parts, measure_of("tokens"))


def score_sequence(
    examples: Sequence[SequenceExample], predicted: Sequence[str], negative: str | None
) -> Scored:
    """All metrics of one label an example; `negative` is what micro F1 leaves out."""
    return score_labels([one.label for one in examples], predicted, negative, units_of(examples).numbers)


def score_multilabel(
    examples: Sequence[MultilabelExample], predicted: Sequence[Sequence[str]], negative: str | None
) -> Scored:
    """All metrics of any number of labels a document."""
    return score_label_sets([one.labels for one in examples], predicted, units_of(examples).numbers)


def score_regression(
    examples: Sequence[RegressionExample], predicted: Sequence[float], negative: str | None
) -> Scored:
    """The correlation of scores."""
    return score_correlation([one.score for one in examples], predicted, units_of(examples).numbers)


def score_span(examples: Sequence[SpanExample], predicted: Sequence[Ranked], negative: str | None) -> Scored:
    """All metrics of answers to questions."""
    return score_answers(examples, predicted)


SCORERS: dict[str, Callable[[Sequence[Any], Sequence[Any], str | None], Scored]] = {
    "tokens": score_tokens,
    "sequence": score_sequence,
    "multilabel": score_multilabel,
    "regression": score_regression,
    "span": score_span,
}
"""Kind of examples -> what gives all metrics that make sense for it: `(examples, predictions, negative)`."""


def dev_score(
    metric: str, kind: str, examples: Sequence[Any], predicted: Sequence[Any], negative: str | None
) -> float:
    """The number by which weights and trials are chosen for a metric; higher is better.

    0.0 where it is not defined (no positive anywhere, constant scores): such weights are never the ones to
    keep.
    """
    chooses = METRICS[metric].chooses
    assert chooses is not None, f"{metric} chooses nothing"
    score = float(chooses(SCORERS[kind](examples, predicted, negative).contributions.totals()))
    return 0.0 if math.isnan(score) else score

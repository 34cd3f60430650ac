"""Metrics: pure functions from examples and predictions to numbers.

Each module registers its metrics (`pubmill.metrics.registry`); importing this package loads all of them.
Standard library and numpy only, because the trainer also chooses weights by these metrics.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from pubmill.examples.kinds import (
    Example,
    MentionsExample,
    MultilabelExample,
    RegressionExample,
    RelationsExample,
    SequenceExample,
    SpanExample,
    TokensExample,
)
from pubmill.metrics.answers import Ranked, score_answers
from pubmill.metrics.classes import score_label_sets, score_labels
from pubmill.metrics.contributions import Scored, together, units_of
from pubmill.metrics.correlation import score_correlation
from pubmill.metrics.entities import (
    Span,
    score_entities,
    score_layers,
    score_relaxed,
    score_spans,
    score_subtokens,
    score_words,
)
from pubmill.metrics.registry import METRICS, Metric, dev_scores, measure_of, metrics_of
from pubmill.metrics.relation_sets import Relation, score_relations

__all__ = ["METRICS", "SCORERS", "Metric", "dev_score", "dev_scores", "metrics_of"]


def score_tokens(
    examples: Sequence[TokensExample], predicted: Sequence[Sequence[str]], negative: str | None
) -> Scored:
    """Compute all metrics of BIO labels: exact and relaxed entities, those of subwords, single words, and
    their layers."""
    gold, units = [example.labels for example in examples], units_of(examples).numbers
    of_words = score_entities, score_relaxed, score_subtokens, score_words
    parts = [score(gold, predicted, units) for score in of_words]
    layers = score_layers([example.layers for example in examples], predicted, units)
    return together([*parts, layers], measure_of("tokens"))


def score_sequence(
    examples: Sequence[SequenceExample], predicted: Sequence[str], negative: str | None
) -> Scored:
    """Compute all metrics of single-label examples; `negative` is the label that micro F1 ignores."""
    return score_labels([one.label for one in examples], predicted, negative, units_of(examples).numbers)


def score_multilabel(
    examples: Sequence[MultilabelExample], predicted: Sequence[Sequence[str]], negative: str | None
) -> Scored:
    """Compute all metrics of multi-label documents."""
    return score_label_sets([one.labels for one in examples], predicted, units_of(examples).numbers)


def score_regression(
    examples: Sequence[RegressionExample], predicted: Sequence[float], negative: str | None
) -> Scored:
    """Compute the correlation of scores."""
    return score_correlation([one.score for one in examples], predicted, units_of(examples).numbers)


def score_span(examples: Sequence[SpanExample], predicted: Sequence[Ranked], negative: str | None) -> Scored:
    """Compute all metrics of answers to questions."""
    return score_answers(examples, predicted)


def score_documents(
    examples: Sequence[RelationsExample], predicted: Sequence[Sequence[Relation]], negative: str | None
) -> Scored:
    """Compute all metrics of relations between the concepts of documents."""
    return score_relations(examples, predicted)


def score_mentions(
    examples: Sequence[MentionsExample], predicted: Sequence[Sequence[Span]], negative: str | None
) -> Scored:
    """Compute all metrics of mentions that may nest."""
    return score_spans(examples, predicted, units_of(examples).numbers)


SCORERS: dict[str, Callable[[Sequence[Any], Sequence[Any], str | None], Scored]] = {
    "tokens": score_tokens,
    "sequence": score_sequence,
    "multilabel": score_multilabel,
    "regression": score_regression,
    "span": score_span,
    "relations": score_documents,
    "mentions": score_mentions,
}
"""Kind of examples -> function `(examples, predictions, negative)` that computes all its metrics."""


def dev_score(
    metric: str, kind: str, examples: Sequence[Example], predicted: Sequence[Any], negative: str | None
) -> float:
    """Return the dev score by which weights and trials are chosen for a metric; higher is better.

    It is 0.0 where the score is not defined (no positive anywhere, constant scores), so that such weights are
    never kept.
    """
    chooses = METRICS[metric].chooses
    assert chooses is not None, f"{metric} has no dev score"
    score = float(chooses(SCORERS[kind](examples, predicted, negative).contributions.totals()))
    return 0.0 if math.isnan(score) else score

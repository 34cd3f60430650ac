"""Metrics: pure functions from examples and what is predicted of them to numbers.

The version of a metric isn't here: it is part of the recipe that a scoring job is given.
"""

from collections.abc import Callable, Sequence
from typing import Any

from pubmill.contributions import Measure, Scored, together, units_of
from pubmill.examples import MultilabelExample, RegressionExample, SequenceExample, SpanExample, TokensExample
from pubmill.metrics.answers import Ranked, answer_metrics, score_answers
from pubmill.metrics.classes import label_metrics, label_set_metrics, score_label_sets, score_labels
from pubmill.metrics.correlation import correlation_metrics, score_correlation
from pubmill.metrics.entities import entity_metrics, relaxed_metrics, score_entities, score_relaxed
from pubmill.metrics.words import score_words, word_metrics


def score_tokens(
    examples: Sequence[TokensExample], predicted: Sequence[Sequence[str]], negative: str | None
) -> Scored:
    """All metrics of BIO labels: exact and relaxed entities, and single words."""
    gold, units = [example.labels for example in examples], units_of(examples).numbers
    return together([score(gold, predicted, units) for score in (score_entities, score_relaxed, score_words)])


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

MEASURES: dict[str, tuple[Measure, ...]] = {
    "tokens": (entity_metrics, relaxed_metrics, word_metrics),
    "sequence": (label_metrics,),
    "multilabel": (label_set_metrics,),
    "regression": (correlation_metrics,),
    "span": (answer_metrics,),
}
"""Kind of examples -> what gives its metrics again from the totals of a resampling."""

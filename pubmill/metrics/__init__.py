"""Metrics: pure functions from examples and what is predicted of them to numbers.

The version of a metric isn't here: it is part of the recipe that a scoring job is given.
"""

from collections.abc import Callable, Sequence
from typing import Any

from pubmill.examples import MultilabelExample, RegressionExample, SequenceExample, SpanExample, TokensExample
from pubmill.metrics.answers import Ranked, score_answers
from pubmill.metrics.classes import score_label_sets, score_labels
from pubmill.metrics.correlation import score_correlation
from pubmill.metrics.entities import score_entities, score_relaxed
from pubmill.metrics.words import score_words

Scores = tuple[dict[str, float], dict[str, int]]
"""Metrics (0..1; `pearson` -1..1) by name, without those that aren't defined, and the counts behind them."""


def score_tokens(
    examples: Sequence[TokensExample], predicted: Sequence[Sequence[str]], negative: str | None
) -> Scores:
    """All metrics of BIO labels: exact and relaxed entities, and single words."""
    gold = [example.labels for example in examples]
    every = [score(gold, predicted) for score in (score_entities, score_relaxed, score_words)]
    return {name: value for metrics, _ in every for name, value in metrics.items()}, {
        name: value for _, counts in every for name, value in counts.items()
    }


def score_sequence(
    examples: Sequence[SequenceExample], predicted: Sequence[str], negative: str | None
) -> Scores:
    """All metrics of one label an example; `negative` is what micro F1 leaves out."""
    return score_labels([example.label for example in examples], predicted, negative)


def score_multilabel(
    examples: Sequence[MultilabelExample], predicted: Sequence[Sequence[str]], negative: str | None
) -> Scores:
    """All metrics of any number of labels a document."""
    return score_label_sets([example.labels for example in examples], predicted)


def score_regression(
    examples: Sequence[RegressionExample], predicted: Sequence[float], negative: str | None
) -> Scores:
    """The correlation of scores."""
    return score_correlation([example.score for example in examples], predicted)


def score_span(examples: Sequence[SpanExample], predicted: Sequence[Ranked], negative: str | None) -> Scores:
    """All metrics of answers to questions."""
    return score_answers(examples, predicted)


SCORERS: dict[str, Callable[[Sequence[Any], Sequence[Any], str | None], Scores]] = {
    "tokens": score_tokens,
    "sequence": score_sequence,
    "multilabel": score_multilabel,
    "regression": score_regression,
    "span": score_span,
}
"""Kind of examples -> what gives all metrics that make sense for it: `(examples, predictions, negative)`."""

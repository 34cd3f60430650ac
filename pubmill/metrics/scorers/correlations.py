"""Scorers for scores of pairs of texts: Spearman's correlation beside Pearson's."""

from collections.abc import Sequence
from functools import partial

from pubmill.examples.kinds import RegressionExample
from pubmill.metrics.correlation import score_correlation
from pubmill.metrics.scorers.published_scorer import PublishedScorer

Examples = Sequence[RegressionExample]


def ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value, the smallest having 1; equal values have their mean rank."""
    places: dict[float, list[int]] = {}
    for place, value in enumerate(sorted(values), 1):
        places.setdefault(value, []).append(place)
    return [sum(places[value]) / len(places[value]) for value in values]


def spearman(examples: Examples, predicted: Sequence[float], negative: str | None = None) -> float | None:
    """Spearman's correlation, which is Pearson's of ranks."""
    gold = [one.score for one in examples]
    return score_correlation(ranks(gold), ranks(predicted)).metrics.get("pearson")


def mean_correlation(
    examples: Examples, predicted: Sequence[float], negative: str | None = None
) -> float | None:
    """Mean of Pearson's and Spearman's correlation."""
    pearson = score_correlation([one.score for one in examples], predicted).metrics.get("pearson")
    other = spearman(examples, predicted)
    return None if pearson is None or other is None else (pearson + other) / 2


_scorer = partial(PublishedScorer, kinds=("regression",))


CORRELATIONS = (
    _scorer(
        "spearman",
        spearman,
        "Spearman's correlation with the experts' scores",
        "`pearson_and_spearman` of lewis2020's code",
    ),
    _scorer(
        "pearson_spearman_mean",
        mean_correlation,
        "mean of Pearson's and Spearman's correlation",
        "`corr` of GLUE's `pearson_and_spearman`",
    ),
)

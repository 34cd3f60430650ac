"""Pearson correlation of predicted scores with those of experts."""

import math
from collections.abc import Sequence
from statistics import fmean

import numpy as np

from pubmill.metrics.contributions import Array, Scored, Totals, scored
from pubmill.metrics.registry import Metric, quotient, register

ROUNDING = 1e-12
"""A variance below this share of the mean square is due to rounding and counts as 0."""


def score_correlation(
    gold: Sequence[float], predicted: Sequence[float], units: Sequence[int] | None = None
) -> Scored:
    """Score pairs of texts with `pearson` (-1..1) (BIOSSES: gu2020 section 4.4).

    It is 0 if all predicted scores are equal; not defined, and not reported, if all gold scores are equal
    or if there are fewer than two pairs. Count: `examples`.
    """
    x, y = np.array(_standardise(gold)), np.array(_standardise(predicted))
    products = {"xx": x * x, "yy": y * y, "xy": x * y}
    columns = {"examples": np.ones(len(x)), "x": x, "y": y, **products}
    return scored(columns, correlation_metrics, lambda totals: {"examples": totals["examples"]}, units)


def pearson(totals: Totals) -> Array:
    """Pearson correlation from totals of scores and of their products.

    Equal predictions, for which it is not defined, say nothing of the gold scores; they count as 0, so that a
    collapsed run stays in the mean.
    """
    n, x, y = (totals[name] for name in ("examples", "x", "y"))
    variances = [_variance(n * totals[name], total * total) for name, total in (("xx", x), ("yy", y))]
    correlation = quotient(n * totals["xy"] - x * y, np.sqrt(variances[0]) * np.sqrt(variances[1]))
    correlation = np.where((variances[0] > 0) & (variances[1] == 0), 0.0, correlation)
    # Rounding can make it slightly larger than 1.
    return np.clip(correlation, -1.0, 1.0)


correlation_metrics = register(
    Metric(
        name="pearson",
        kinds=("regression",),
        version=2,
        label="Pearson correlation",
        definition="Pearson's correlation with the experts' scores; 0 if all predictions are equal",
        source="gu2020 4.4",
        function=pearson,
        chooses=pearson,
    )
)


def _variance(squares: Array, square: Array) -> Array:
    return np.where(squares - square > ROUNDING * squares, squares - square, 0.0)


def _standardise(values: Sequence[float]) -> list[float]:
    """Standardise scores to mean 0 and standard deviation 1; the correlation does not change.

    Sums of products are then precise enough, and the scores of two models can be exchanged.
    """
    scaled = _scale_to_one(values)
    mean = fmean(scaled)
    centred = _scale_to_one([value - mean for value in scaled])
    deviation = math.sqrt(fmean(value * value for value in centred)) or 1.0
    return [value / deviation for value in centred]


def _scale_to_one(values: Sequence[float]) -> list[float]:
    """Scale values so that the largest absolute value is 1."""
    largest = max(map(abs, values)) or 1.0
    return [value / largest for value in values]

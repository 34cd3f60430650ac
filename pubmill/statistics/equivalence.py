"""Tests of a difference between two means of runs, and the power of these tests.

Papers print a mean over seeds without its spread, so our spread is used for both: the scores are assumed to
vary equally from seed to seed. Scores, margins and spreads are percentages.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import variance
from typing import NamedTuple

from scipy import special  # not scipy.stats, which takes a second to import

from pubmill.recipes.tables import Aggregate
from pubmill.statistics.verdict_models import SeedsNeeded

MEDIAN = math.sqrt(math.pi / 2)
"""Ratio of the standard error of a median to that of a mean, for many normal values. For five values it is
1.20, so this is conservative for few runs."""

RESOLVED = 0.5
"""Score difference, in points, that the reported seed count must detect."""

FEWEST = 3
"""Least number of runs in a cell whose spread is used."""


class Uncertainty(NamedTuple):
    """The standard error of ours minus published, and its degrees of freedom."""

    error: float
    freedom: float


def uncertainty(spread: float, runs: int, published_runs: int, aggregate: Aggregate) -> Uncertainty:
    """Return the uncertainty of the difference between a mean (or median) of `runs` of ours with standard
    deviation `spread` and one of `published_runs` of the paper, whose standard deviation is assumed equal."""
    factor = MEDIAN if aggregate == "median" else 1.0
    return Uncertainty(factor * spread * math.sqrt(1 / runs + 1 / published_runs), runs - 1)


def combined(parts: Sequence[tuple[float, Uncertainty]]) -> Uncertainty:
    """The uncertainty of a weighted sum of independent differences (Welch 1947, Satterthwaite 1946)."""
    variances = [(weight * one.error) ** 2 for weight, one in parts]
    total = sum(variances)
    spent = sum(part**2 / one.freedom for part, (_, one) in zip(variances, parts, strict=True) if part)
    return Uncertainty(math.sqrt(total), total**2 / spent if spent else 0.0)


def equivalence_p(difference: float, of: Uncertainty, margin: float) -> float:
    """Return the p value of two one-sided t tests (Schuirmann 1987): the larger p value of the hypotheses
    that the true difference is below -margin and that it is above +margin."""
    return float(special.stdtr(of.freedom, (abs(difference) - margin) / of.error))


def difference_interval(difference: float, of: Uncertainty, alpha: float) -> tuple[float, float]:
    """Return the interval, of confidence 1 - 2 alpha, that lies within the margins if and only if the two
    one-sided tests at `alpha` reject both hypotheses."""
    half = of.error * float(special.stdtrit(of.freedom, 1 - alpha))
    return difference - half, difference + half


def minimal_detectable(of: Uncertainty, alpha: float, power: float) -> float:
    """Return the smallest true difference that a two-sided t test at `alpha` detects with this power."""
    return of.error * _noncentrality(of.freedom, alpha, power)


@lru_cache(maxsize=4096)
def _noncentrality(freedom: float, alpha: float, power: float) -> float:
    """Return the difference that this power detects, in standard errors; `freedom` may be fractional."""
    low, high = 0.0, 1.0
    while _power(high, freedom, alpha) < power:
        low, high = high, 2 * high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _power(middle, freedom, alpha) < power else (low, middle)
    return high


def _power(noncentrality: float, freedom: float, alpha: float) -> float:
    """Return the power of a two-sided t test at `alpha` (the square of t has an F distribution)."""
    critical = special.stdtrit(freedom, 1 - alpha / 2) ** 2
    return float(1 - special.ncfdtr(1, freedom, noncentrality**2, critical))


@lru_cache(maxsize=4096)
def seeds_needed(spread: float, difference: float, alpha: float, power: float) -> int:
    """Return the number of seeds per model with which a t test (two-sided, equal variances) detects a true
    `difference` of two models' means with this power, if scores have the standard deviation `spread`."""
    if spread == 0:
        return 2
    steps = float(special.ndtri(1 - alpha / 2) + special.ndtri(power))
    # fewer seeds do not suffice even if the standard deviation is known
    seeds = max(2, math.floor(2 * (steps * spread / difference) ** 2))
    while _power(difference / (spread * math.sqrt(2 / seeds)), 2 * (seeds - 1), alpha) < power:
        seeds += 1
    return seeds


def pooled_seeds_needed(cells: Sequence[Sequence[float]], alpha: float, power: float) -> SeedsNeeded | None:
    """Return the seeds needed, given the pooled spread within cells (lists of scores over seeds); None if no
    cell has `FEWEST` runs."""
    used = [scores for scores in cells if len(scores) >= FEWEST]
    freedom = sum(len(scores) - 1 for scores in used)
    if not freedom:
        return None
    spread = math.sqrt(sum((len(scores) - 1) * variance(scores) for scores in used) / freedom)
    seeds = seeds_needed(spread, RESOLVED, alpha, power)
    return SeedsNeeded(spread=spread, freedom=freedom, seeds=seeds)

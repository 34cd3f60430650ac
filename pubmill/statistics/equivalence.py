"""Tests of a difference between two means of runs, and what they can find.

The paper prints a mean over seeds without their spread. Ours stands in for it: both means are taken to vary
from seed to seed alike. Scores, margins and spreads are percentages.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import variance
from typing import NamedTuple

from scipy import special  # not scipy.stats, which takes a second to import

from pubmill.statistics.verdict_models import Aggregate, Need

MEDIAN = math.sqrt(math.pi / 2)
"""How much larger the standard error of a median of many normal values is than that of their mean. Of five
it is 1.20 times as large, so for few runs this errs towards caution."""

RESOLVED = 0.5
"""The difference, in points, that `seeds_needed` is told of."""

FEWEST = 3
"""Runs of a cell from which on a spread is told as more than a hint."""


class Uncertainty(NamedTuple):
    """The standard error of ours minus published, and its degrees of freedom."""

    error: float
    freedom: float


def uncertainty(spread: float, runs: int, published_runs: int, aggregate: Aggregate) -> Uncertainty:
    """That of the difference of a mean (or median) of `runs` of ours, which have this standard deviation,
    and one of `published_runs` of the paper's, taken to have the same."""
    factor = MEDIAN if aggregate == "median" else 1.0
    return Uncertainty(factor * spread * math.sqrt(1 / runs + 1 / published_runs), runs - 1)


def combined(parts: Sequence[tuple[float, Uncertainty]]) -> Uncertainty:
    """That of a weighted sum of independent differences (Welch 1947, Satterthwaite 1946)."""
    variances = [(weight * one.error) ** 2 for weight, one in parts]
    total = sum(variances)
    spent = sum(part**2 / one.freedom for part, (_, one) in zip(variances, parts, strict=True))
    return Uncertainty(math.sqrt(total), total**2 / spent if spent else 0.0)


def equivalence_p(difference: float, of: Uncertainty, margin: float) -> float:
    """p of two one-sided t tests (Schuirmann 1987): that the true difference is beyond -margin, or beyond
    +margin; the larger of the two."""
    return float(special.stdtr(of.freedom, (abs(difference) - margin) / of.error))


def minimal_detectable(of: Uncertainty, alpha: float, power: float) -> float:
    """The smallest true difference that a two-sided t test at `alpha` finds with this power."""
    return of.error * _noncentrality(of.freedom, alpha, power)


@lru_cache(maxsize=4096)
def _noncentrality(freedom: float, alpha: float, power: float) -> float:
    """The difference in standard errors that is found with this power; `freedom` may be a fraction."""
    low, high = 0.0, 1.0
    while _power(high, freedom, alpha) < power:
        low, high = high, 2 * high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _power(middle, freedom, alpha) < power else (low, middle)
    return high


def _power(noncentrality: float, freedom: float, alpha: float) -> float:
    """The probability that a two-sided t test at `alpha` finds a difference; the square of t has an F
    distribution."""
    critical = special.stdtrit(freedom, 1 - alpha / 2) ** 2
    return float(1 - special.ncfdtr(1, freedom, noncentrality**2, critical))


@lru_cache(maxsize=4096)
def seeds_needed(spread: float, difference: float, alpha: float, power: float) -> int:
    """Seeds of each of two models that a t test (two-sided, equal variances) needs to find a true difference
    of their means with this power, where scores have this standard deviation."""
    if spread == 0:
        return 2
    steps = float(special.ndtri(1 - alpha / 2) + special.ndtri(power))
    seeds = max(
        2, math.floor(2 * (steps * spread / difference) ** 2)
    )  # fewer are too few even if it is known
    while _power(difference / (spread * math.sqrt(2 / seeds)), 2 * (seeds - 1), alpha) < power:
        seeds += 1
    return seeds


def need(cells: Sequence[Sequence[float]], alpha: float, power: float) -> Need | None:
    """By the spread within cells (the scores of each over seeds) together; None where none has
    `FEWEST` runs."""
    told = [scores for scores in cells if len(scores) >= FEWEST]
    freedom = sum(len(scores) - 1 for scores in told)
    if not freedom:
        return None
    spread = math.sqrt(sum((len(scores) - 1) * variance(scores) for scores in told) / freedom)
    seeds = seeds_needed(spread, RESOLVED, alpha, power)
    return Need(spread=spread, freedom=freedom, seeds=seeds)

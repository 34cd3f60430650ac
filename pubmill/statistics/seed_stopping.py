"""When the seeds run so far decide which of two models is better, however often one looks.

The evidence on a pair of models is an e-process of the paired differences of their scores, one per seed:
the t test's likelihood ratio, mixed over effect sizes, with the right Haar prior on the scale (Lai 1976;
Pérez-Ortiz et al. 2024; Wang and Ramdas 2025). If the mean difference is 0 and differences are normal, it
ever reaches 1/alpha with probability at most alpha (Ville's inequality), so one may look after each seed.
Bounds that only use that scores lie between 0 and 1 (empirical Bernstein or betting: Waudby-Smith and Ramdas
2024) cannot decide by ten seeds: a bet on a difference of d multiplies its stake by at most 1 + d, so a
difference of 5 points needs at least 61 seeds to reach 20.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

import numpy as np

from pubmill.metrics.contributions import Array

ALPHA = 0.05
"""Probability of any wrong conclusion among the pairs of models on a dataset."""
FIRST = 2
"""Seeds that every model gets before anything is decided."""
EFFECTS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Standard deviations of the normal mixtures over effect sizes (difference / standard deviation)."""


def e_values(differences: Array, floor: float) -> Array:
    """Return the e-values of pairs [...] with mean difference 0, from their differences [..., seeds].

    `floor`: the variance of a difference due to the finite number of scored items, which is added to the
    observed one, so that equal scores of a few seeds are not taken for certainty.
    """
    n = differences.shape[-1]
    if n < FIRST:
        return np.ones(differences.shape[:-1])
    mean = differences.mean(axis=-1)
    variance = differences.var(axis=-1, ddof=1) + floor
    with np.errstate(divide="ignore", invalid="ignore"):  # without any variance
        t2 = np.where(mean == 0, 0.0, n * mean**2 / variance)
    mixtures = [_likelihood_ratio(t2, n, effect) for effect in EFFECTS]
    found: Array = np.mean(mixtures, axis=0)
    return found


def _likelihood_ratio(t2: Array, n: int, effect: float) -> Array:
    """Return the ratio of the densities of t², mixed over normal effect sizes and without an effect."""
    spread = 1 + n * effect**2
    shrunk = t2 / spread
    with np.errstate(invalid="ignore"):  # infinite over infinite
        inner = np.where(np.isinf(t2), spread, (n - 1 + t2) / (n - 1 + shrunk))
    ratio: Array = np.exp(n / 2 * np.log(inner) - math.log(spread) / 2)
    return ratio


def adjusted(found: Array) -> Array:
    """Return e-values of single pairs [..., pairs] adjusted for all of them: the least mean of each with any
    others (closed testing; Vovk and Wang 2021). Means of e-processes are e-processes, so they too hold at any
    time."""
    sums = np.cumsum(np.sort(found, axis=-1), axis=-1)
    sizes = 2 + np.arange(found.shape[-1])
    with_others = (found[..., :, None] + sums[..., None, :]) / sizes
    least: Array = np.minimum(found, with_others.min(axis=-1, initial=np.inf))
    return least


def resolution(items: int) -> float:
    """Return the variance of a difference of two scores from rounding to a share of `items`."""
    return 1 / (6 * items**2)


class PairState(NamedTuple):
    """What is known of two models on a dataset. `difference`: mean of first minus second; `evidence`: the
    adjusted e-value; `open`: whether more seeds could decide the pair."""

    first: str
    second: str
    difference: float
    evidence: float
    decided: bool
    open: bool


def pair_states(
    scores: Mapping[str, Sequence[float]], most: int, items: int, alpha: float = ALPHA
) -> list[PairState]:
    """Return the state of each pair of models on a dataset, by the scores of their common first seeds (at
    most `most`); a pair is open if it would be decided were its mean and spread to stay the same until the
    last seed."""
    pairs = list(itertools.combinations(scores, 2))
    gaps = [_paired(scores[first], scores[second]) for first, second in pairs]
    floor = resolution(items)
    evidence = adjusted(np.array([float(e_values(gap, floor)) for gap in gaps]))
    threshold = 1 / alpha
    needed = threshold * len(pairs)  # the adjustment of a single pair with evidence
    return [
        PairState(
            first=first,
            second=second,
            difference=fmean(gap) if len(gap) else 0.0,
            evidence=float(value),
            decided=bool(value >= threshold),
            open=bool(value < threshold and len(gap) < most and _hopeful(gap, most, floor, needed)),
        )
        for (first, second), gap, value in zip(pairs, gaps, evidence, strict=True)
    ]


def _paired(first: Sequence[float], second: Sequence[float]) -> Array:
    """Return the differences of the common first seeds."""
    common = min(len(first), len(second))
    gaps: Array = np.array(first[:common]) - np.array(second[:common])
    return gaps


def _hopeful(gap: Array, most: int, floor: float, needed: float) -> bool:
    """Return whether a pair may still be decided: always before the first look, then by the largest e-value
    at the last seed with the observed mean and spread."""
    if len(gap) < FIRST:
        return True
    n, variance = len(gap), float(gap.var(ddof=1)) + floor
    t2 = np.array(most * float(gap.mean()) ** 2 / variance) if variance else np.array(math.inf)
    return n < most and max(float(_likelihood_ratio(t2, most, effect)) for effect in EFFECTS) >= needed


def next_runs(
    scores: Mapping[str, Sequence[float]], most: int, items: int, alpha: float = ALPHA
) -> Iterator[str]:
    """Yield the models that need one more seed on a dataset: those of open pairs with the fewest seeds, and
    all with fewer than `FIRST`."""
    open_pairs = [one for one in pair_states(scores, most, items, alpha) if one.open]
    wanted = {
        name
        for one in open_pairs
        for name in (one.first, one.second)
        if len(scores[name]) == min(len(scores[one.first]), len(scores[one.second]))
    }
    for model, known in scores.items():
        if len(known) < most and (len(known) < FIRST or model in wanted):
            yield model

"""Sequential tests of which of two models is better, which remain valid if repeated after each seed.

The evidence on a pair of models is an e-process of the paired differences of their scores, one per seed: the
t test's likelihood ratio, mixed over effect sizes, with the right Haar prior on the scale (Lai 1976;
Pérez-Ortiz et al. 2024; Wang and Ramdas 2025). Its p value is the probability that it reaches its observed
maximum by the last seed if the differences are normal with mean 0. It does not depend on their spread and is
simulated. One may therefore test after each seed. Ville's inequality bounds the same probability without a
last seed, but is up to three times as large. The p values of a row are adjusted by Holm.

Bounds that only use that scores lie between 0 and 1 (empirical Bernstein or betting: Waudby-Smith and Ramdas
2024) cannot decide by ten seeds: a bet on a difference of d multiplies its stake by at most 1 + d, so a
difference of 5 points needs at least 61 seeds to reach 20.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from statistics import fmean
from typing import NamedTuple

import numpy as np

from pubmill.metrics.contributions import Array
from pubmill.recipes.finetuning import FIRST_SEEDS
from pubmill.statistics.resampling import holm

ALPHA = 0.05
"""Probability of any wrong conclusion among the pairs of models on a dataset."""
DRAWS = 200_000
"""Simulated pairs of equal models; the least p value is about 1 / DRAWS."""
EFFECTS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Standard deviations of the normal mixtures over effect sizes (difference / standard deviation)."""
Pair = tuple[str, str]
"""Two models."""


def e_values(differences: Array, floor: float) -> Array:
    """Return the e-values of pairs [...] with mean difference 0, from their differences [..., seeds].

    `floor`: the variance of a difference due to the finite number of scored items, which is added to the
    observed one, so that equal scores of a few seeds are not taken for certainty.
    """
    n = differences.shape[-1]
    if n < FIRST_SEEDS:
        return np.ones(differences.shape[:-1])
    mean = differences.mean(axis=-1)
    variance = differences.var(axis=-1, ddof=1) + floor
    with np.errstate(divide="ignore", invalid="ignore"):  # without any variance
        t2 = np.where(mean == 0, 0.0, n * mean**2 / variance)
    return mixture(t2, n)


def mixture(t2: Array, n: int) -> Array:
    """Return the mean likelihood ratio over the effect sizes."""
    mean: Array = np.mean([likelihood_ratio(t2, n, effect) for effect in EFFECTS], axis=0)
    return mean


def likelihood_ratio(t2: Array, n: int, effect: float) -> Array:
    """Return the ratio of the densities of t², mixed over normal effect sizes and without an effect."""
    spread = 1 + n * effect**2
    shrunk = t2 / spread
    with np.errstate(invalid="ignore"):  # infinite over infinite
        inner = np.where(np.isinf(t2), spread, (n - 1 + t2) / (n - 1 + shrunk))
    with np.errstate(over="ignore"):
        ratio: Array = np.exp(n / 2 * np.log(inner) - math.log(spread) / 2)
    return ratio


def largest_e_values(differences: Array, floor: float) -> Array:
    """Return the largest e-value of each pair [...] after any number of its seeds."""
    looks = range(FIRST_SEEDS, differences.shape[-1] + 1)
    largest: Array = np.max(
        [np.ones(differences.shape[:-1]), *(e_values(differences[..., :n], floor) for n in looks)], axis=0
    )
    return largest


@lru_cache
def _without_an_effect(most: int) -> Array:
    """Return simulated largest e-values of equal models with `most` seeds, in order."""
    largest: Array = np.sort(largest_e_values(np.random.default_rng(0).normal(size=(DRAWS, most)), 0.0))
    return largest


def p_values(largest: Array, most: int) -> Array:
    """Return the probability that equal models reach e-values as large as these by seed `most`."""
    drawn = _without_an_effect(most)
    probabilities: Array = (1 + len(drawn) - np.searchsorted(drawn, largest)) / (1 + len(drawn))
    return probabilities


def resolution(items: int) -> float:
    """Return the variance that rounding two scores to multiples of 1 / `items` adds to their difference."""
    return 1 / (6 * items**2)


class PairState(NamedTuple):
    """What is known of two models on a dataset. `difference`: mean of first minus second; `p`: adjusted p
    value of no difference, at any number of seeds; `open`: whether more seeds could decide the pair."""

    first: str
    second: str
    difference: float
    p: float
    decided: bool
    open: bool


def pair_states(
    scores: Mapping[str, Sequence[float]], most: int, items: int, alpha: float = ALPHA
) -> list[PairState]:
    """Return the state of each pair of models on a dataset, by the scores of their common first seeds (at
    most `most`); a pair is open if its present mean and spread would decide it by the last seed."""
    gaps = paired_differences(scores)
    floor = resolution(items)
    p = [float(p_values(largest_e_values(gap, floor), most)) for gap in gaps.values()]
    return states_of(gaps, p, lambda pair, level: _hopeful(gaps[pair], most, floor, level), most, alpha)


def states_of(
    gaps: Mapping[Pair, Array],
    p: Sequence[float],
    hopeful: Callable[[Pair, float], bool],
    most: int,
    alpha: float,
) -> list[PairState]:
    """Return the states of pairs; `hopeful`: whether a pair may still be decided at a level."""
    return [
        PairState(
            first=pair[0],
            second=pair[1],
            difference=fmean(gap) if len(gap) else 0.0,
            p=adjusted,
            decided=adjusted <= alpha,
            open=adjusted > alpha and len(gap) < most and hopeful(pair, alpha / len(gaps)),
        )
        for (pair, gap), adjusted in zip(gaps.items(), holm(p), strict=True)
    ]


def paired_differences(scores: Mapping[str, Sequence[float]]) -> dict[Pair, Array]:
    """Return the differences of the common first seeds of each pair of models."""
    gaps: dict[Pair, Array] = {}
    for first, second in itertools.combinations(scores, 2):
        common = min(len(scores[first]), len(scores[second]))
        gaps[first, second] = np.array(scores[first][:common]) - np.array(scores[second][:common])
    return gaps


def _hopeful(gap: Array, most: int, floor: float, alpha: float) -> bool:
    """Return whether a pair may still be decided at `alpha`: always before the first look, then by the
    e-value at the last seed with the observed mean and spread."""
    if len(gap) < FIRST_SEEDS:
        return True
    t2 = np.array(most * float(gap.mean()) ** 2 / (float(gap.var(ddof=1)) + floor))
    return bool(p_values(mixture(t2, most), most) <= alpha)


def next_models(
    scores: Mapping[str, Sequence[float]], states: Sequence[PairState], most: int
) -> Iterator[str]:
    """Yield the models that need one more seed on a dataset: in each open pair the one with fewer seeds (both
    if equal), and all models with fewer than `FIRST_SEEDS`."""
    wanted = {
        name
        for one in states
        if one.open
        for name in (one.first, one.second)
        if len(scores[name]) == min(len(scores[one.first]), len(scores[one.second]))
    }
    for model, known in scores.items():
        if len(known) < most and (len(known) < FIRST_SEEDS or model in wanted):
            yield model

"""Whether a difference between two models would also be there on other documents of the same kind.

The mean difference d of two models on a test set has two sources of chance: the seeds of the runs and the
documents of the test set. `pubmill.statistics.seed_stopping` tests the first alone: whether the mean over
seeds on these documents, t, is 0. Here the mean m over seeds and documents is tested. For any t, the evidence
against m = 0 is the product of two e-values: of the documents, against t being so far from 0, and of the
seeds, against d being so far from t. Documents are drawn before seeds, so the product is an e-value (Vovk and
Wang 2021). As t is unknown, the least product over all t is taken. It is at most the product at the true t,
and the largest such product over the seeds has a known distribution if seeds and contributions of documents
are normal: that of a product of independent e-values, which is simulated. So the p value holds at every seed.

The variance of d over documents is the jackknife's (Efron and Stein 1981), of the means over
the seeds so far; it tends to be too large.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from pubmill.metrics.contributions import Array, Contributions, Totals
from pubmill.recipes.finetuning import FIRST_SEEDS
from pubmill.statistics.seed_stopping import (
    ALPHA,
    DRAWS,
    Pair,
    PairState,
    largest_e_values,
    likelihood_ratio,
    mixture,
    paired_differences,
    resolution,
    states_of,
)

DISTANCES = (1.0, 2.0, 4.0, 8.0)
"""Standard deviations of the normal mixtures over distances (mean difference / its standard error)."""
POINTS, ROUNDS = 17, 3
"""Values of the mean over seeds tried in a round, and rounds, each around the best value so far."""


def document_states(
    scores: Mapping[str, Sequence[float]],
    without: Mapping[str, Array],
    most: int,
    items: int,
    alpha: float = ALPHA,
) -> list[PairState]:
    """Return the state of each pair of models for other documents; `seed_stopping.pair_states` returns it for
    the documents of the test set. `without`: model -> leave-one-out scores [seeds, units]."""
    gaps = paired_differences(scores)
    units = next(iter(without.values())).shape[1]
    floor = resolution(items)
    variances = {
        (first, second): jackknife_variances(without[first][: len(gap)] - without[second][: len(gap)])
        for (first, second), gap in gaps.items()
    }
    p = [
        float(two_level_p_values(largest_two_level_e_values(gap, variances[pair], units, floor), most, units))
        for pair, gap in gaps.items()
    ]

    def hopeful(pair: Pair, level: float) -> bool:
        """Return whether a pair would be decided by the last seed with these means and spreads."""
        if len(gaps[pair]) < FIRST_SEEDS:
            return True
        last = two_level_e_values(*_moments(gaps[pair], floor), most, variances[pair][-1], units)
        return bool(two_level_p_values(last, most, units) <= level)

    return states_of(gaps, p, hopeful, most, alpha)


def scores_without_units(run: Contributions, metric: Callable[[Totals], Array]) -> Array:
    """Return the leave-one-out scores [units] of a run: each on all documents but one."""
    rest = run.values.sum(axis=0) - run.values
    return metric({name: rest[:, number] for number, name in enumerate(run.names)})


def jackknife_variances(differences: Array) -> Array:
    """Return the variance [..., looks] over documents of the mean difference after each number of seeds, from
    the differences [..., seeds, units] on all documents but one; looks begin with `FIRST_SEEDS` seeds."""
    seeds, units = differences.shape[-2:]
    means = np.cumsum(differences, axis=-2) / np.arange(1, seeds + 1)[:, None]
    variances: Array = (units - 1) * means[..., FIRST_SEEDS - 1 :, :].var(axis=-1)
    return variances


def largest_two_level_e_values(differences: Array, variances: Array, units: int, floor: float) -> Array:
    """Return the largest e-value of each pair [...] after any number of its seeds.

    `differences` [..., seeds]; `variances` [..., looks]: those of `jackknife_variances`; `floor`: as in
    `seed_stopping.e_values`.
    """
    looks = range(FIRST_SEEDS, differences.shape[-1] + 1)
    of_looks = [
        two_level_e_values(*_moments(differences[..., :n], floor), n, variances[..., place], units)
        for place, n in enumerate(looks)
    ]
    largest: Array = np.max([np.zeros(differences.shape[:-1]), *of_looks], axis=0)
    return largest


def _moments(differences: Array, floor: float) -> tuple[Array, Array]:
    return differences.mean(axis=-1), differences.var(axis=-1, ddof=1) + floor


def two_level_e_values(mean: Array, variance: Array, seeds: int, of_documents: Array, units: int) -> Array:
    """Return the e-values of pairs with a mean difference of 0 over seeds and documents.

    `mean`, `variance`: of the differences over `seeds`; `of_documents`: variance of the mean over `units`; it
    is nan, and there is no evidence, if the score is not defined without one of them.
    """

    def product(true: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):  # without any variance
            of_seeds = np.where(true == mean, 0.0, seeds * (mean - true) ** 2 / variance)
            distance = np.where(true == 0, 0.0, true**2 / of_documents)
        with np.errstate(over="ignore"):
            return mixture(of_seeds, seeds) * _document_e_values(distance, units)

    return np.where(np.isnan(of_documents), 0.0, _least(product, np.zeros_like(mean), mean))


def _document_e_values(distance: Array, units: int) -> Array:
    """Return the e-values of the squared distances from 0, in standard errors over documents."""
    ratios = [likelihood_ratio(distance, units, size / math.sqrt(units)) for size in DISTANCES]
    means: Array = np.mean(ratios, axis=0)
    return means


def _least(function: Callable[[Array], Array], low: Array, high: Array) -> Array:
    """Return the least values of a function between `low` and `high`."""
    places = np.linspace(0, 1, POINTS).reshape(-1, *[1] * low.ndim)
    for _ in range(ROUNDS):
        tried = low + places * (high - low)
        values = function(tried)
        best = values.argmin(axis=0)[None]
        low = np.take_along_axis(tried, np.maximum(best - 1, 0), axis=0)[0]
        high = np.take_along_axis(tried, np.minimum(best + 1, POINTS - 1), axis=0)[0]
    least: Array = values.min(axis=0)
    return least


@lru_cache
def _largest_of_seeds(most: int) -> Array:
    """Return simulated largest e-values of equal models with `most` seeds."""
    return largest_e_values(np.random.default_rng(0).normal(size=(DRAWS, most)), 0.0)


@lru_cache
def _without_an_effect(most: int, units: int) -> Array:
    """Return simulated bounds of the largest e-values of equal models with `most` seeds, in order."""
    distances = np.random.default_rng(1).standard_t(units - 1, size=DRAWS) ** 2
    largest: Array = np.sort(_largest_of_seeds(most) * _document_e_values(distances, units))
    return largest


def two_level_p_values(largest: Array, most: int, units: int) -> Array:
    """Return the probability that equal models reach e-values as large as these by seed `most`."""
    drawn = _without_an_effect(most, units)
    probabilities: Array = (1 + len(drawn) - np.searchsorted(drawn, largest)) / (1 + len(drawn))
    return probabilities

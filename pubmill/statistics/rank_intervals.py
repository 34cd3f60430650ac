"""Ranks of models by a mean over datasets, and what a paired bootstrap over datasets says of their order.

`values` [datasets, draws, models]: the scores of all models on each dataset. There is one draw if only scores
are known; otherwise each draw is the scores on resampled documents and seeds (`resampling.bootstrap`).
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pubmill.metrics.contributions import Array
from pubmill.statistics.resampling import CONFIDENCE, holm, interval

RESAMPLINGS = 10_000
FEWEST = 6
"""Least number of datasets: a paired test over fewer cannot reach 5 %, because 2 of the 2^n ways to exchange
two models on n datasets are the extreme ones."""


class Adjacent(NamedTuple):
    """Two models with adjacent ranks. `difference`: the upper minus the lower one; `interval`: its confidence
    interval; `reversed`: share of resamplings without an advantage of the upper one; `resolved`: a two-sided
    test of this pair alone rejects that the models are equal."""

    upper: int
    lower: int
    difference: float
    interval: tuple[float, float] | None
    reversed: float
    resolved: bool


class Ranks(NamedTuple):
    """The order of models: `order` has their numbers, best first. `scores`: the mean score of each model.

    `low`, `high`: the rank interval of each model; they hold for all together. `groups`: each model's tie
    group; every model of a group is better than every model of the next one. `adjacent`: neighbouring pairs.
    """

    order: tuple[int, ...]
    scores: tuple[float, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]
    groups: tuple[int, ...]
    adjacent: tuple[Adjacent, ...]


def ranks(observed: Array, resampled: Array) -> Ranks:
    """Rank models by `observed` [models], with `resampled` [resamplings, models] for their uncertainty.

    A rank interval counts the models that are better or worse at `CONFIDENCE` for all pairs together (Holm
    1979; rank intervals from tests of all pairs: Mogstad et al. 2024). Resamplings in which a score is not
    defined are ignored.
    """
    resampled = resampled[np.isfinite(resampled).all(axis=1)]
    order = [int(number) for number in np.argsort(-observed, kind="stable")]
    p_values = two_sided_p(resampled)
    better = _better(observed, p_values)
    low, high = 1 + better.sum(axis=0), len(order) - better.sum(axis=1)
    return Ranks(
        order=tuple(order),
        scores=tuple(map(float, observed)),
        low=tuple(map(int, low)),
        high=tuple(map(int, high)),
        groups=_tie_groups(order, better),
        adjacent=tuple(
            _adjacent(upper, lower, observed, resampled, p_values)
            for upper, lower in itertools.pairwise(order)
        ),
    )


def resampled_means(
    values: Array, weights: Array, generator: np.random.Generator, resamplings: int = RESAMPLINGS
) -> Array:
    """Return weighted means [resamplings, models] over drawn datasets, each with a draw of its scores."""
    chosen = generator.integers(len(values), size=(resamplings, len(values)))
    return _means_of(chosen, values, weights, generator)


def means_on_the_same_datasets(
    values: Array, weights: Array, generator: np.random.Generator, resamplings: int = RESAMPLINGS
) -> Array:
    """Return the weighted means [resamplings, models] over all datasets, each with a draw of its scores."""
    chosen = np.broadcast_to(np.arange(len(values)), (resamplings, len(values)))
    return _means_of(chosen, values, weights, generator)


def _means_of(
    chosen: NDArray[np.int64], values: Array, weights: Array, generator: np.random.Generator
) -> Array:
    scores, weights = values[chosen, generator.integers(values.shape[1], size=chosen.shape)], weights[chosen]
    means: Array = np.einsum("rdm,rd->rm", scores, weights) / weights.sum(axis=1, keepdims=True)
    return means


def two_sided_p(resampled: Array) -> Array:
    """Return the p values [models, models] of the hypotheses that two models are equal: twice the share of
    resamplings in which the order is the less frequent one. Ties count for both orders."""
    size, models = resampled.shape
    ahead = np.empty((models, models))
    for number in range(models):
        ahead[number] = np.count_nonzero(resampled[:, [number]] >= resampled, axis=0)
    p_values: Array = np.minimum(1.0, 2 * (1 + np.minimum(ahead, ahead.T)) / (1 + size))
    return p_values


def _better(observed: Array, p_values: Array) -> NDArray[np.bool_]:
    """Return whether model [first] is better than model [second], at `CONFIDENCE` for all pairs together."""
    first, second = np.triu_indices(len(observed), 1)
    adjusted = np.ones_like(p_values)
    adjusted[first, second] = holm([float(one) for one in p_values[first, second]])
    adjusted = np.minimum(adjusted, adjusted.T)
    return (adjusted <= 1 - CONFIDENCE) & (observed[:, None] > observed)


def _tie_groups(order: Sequence[int], better: NDArray[np.bool_]) -> tuple[int, ...]:
    groups, number = [0] * len(order), 1
    for place, model in enumerate(order):
        if place and better[np.ix_(order[:place], order[place:])].all():
            number += 1
        groups[model] = number
    return tuple(groups)


def _adjacent(upper: int, lower: int, observed: Array, resampled: Array, p_values: Array) -> Adjacent:
    gaps = resampled[:, upper] - resampled[:, lower]
    return Adjacent(
        upper=upper,
        lower=lower,
        difference=float(observed[upper] - observed[lower]),
        interval=interval(gaps),
        reversed=float(np.mean(gaps <= 0)) if len(gaps) else 1.0,
        resolved=bool(p_values[upper, lower] <= 1 - CONFIDENCE),
    )


def probability_of_improvement(first: Sequence[Array], second: Sequence[Array]) -> float:
    """Return the mean over datasets of the probability that a run of the first model is better than one of
    the second, ties counted half (Agarwal et al. 2021); each item has the scores of a dataset's runs."""
    shares = [
        np.mean((one[:, None] > other).astype(float) + 0.5 * (one[:, None] == other))
        for one, other in zip(first, second, strict=True)
    ]
    return float(np.mean(shares))

"""Tests of whether two models differ, by resampling the documents of a test set.

Each run is a column of its documents' contributions (`pubmill.metrics.contributions`). One resampling of the
documents is a row of weights, so many resamplings are one matrix product.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pubmill.metrics.contributions import Array, Contributions, Totals
from pubmill.recipes.tables import Aggregate

RESAMPLINGS = 1000
CONFIDENCE = 0.95
AT_ONCE = 250_000
"""Number of weights in memory at a time: 2 MB, so that they stay in the processor's cache."""

_TOGETHER: dict[Aggregate, Callable[..., Array]] = {"mean": np.mean, "median": np.median}

Metric = Callable[[Totals], Array]
"""Totals -> value of the row's metric."""


class Fold(NamedTuple):
    """Runs on one test set: `values` [units, names, runs], and the number of each run's model (`models`)."""

    names: tuple[str, ...]
    values: Array
    models: NDArray[np.int64]

    @property
    def units(self) -> int:
        """Number of documents (or other resampled units)."""
        return len(self.values)


class Comparison(NamedTuple):
    """Comparison of two models. `difference`: first minus second; `interval`: its confidence interval over
    seeds and documents."""

    difference: float
    bootstrap_p: float
    randomisation_p: float
    interval: tuple[float, float] | None


def fold(runs: Sequence[Sequence[Contributions]]) -> Fold:
    """Combine the runs of each model on the same documents; a class that a run lacks contributes 0."""
    flat = [run for of_model in runs for run in of_model]
    names = tuple(sorted({name for run in flat for name in run.names}))
    places = {name: place for place, name in enumerate(names)}
    values = np.zeros((len(flat[0].values), len(names), len(flat)))
    for number, run in enumerate(flat):
        values[:, [places[name] for name in run.names], number] = run.values
    return Fold(names, values, np.repeat(np.arange(len(runs)), [len(of_model) for of_model in runs]))


def scores(one: Fold, metric: Metric, weights: Array) -> Array:
    """Return the scores [resamplings, runs] with documents weighted by `weights` [resamplings, units]."""
    return metric(_weighted_totals(one.names, weights, one.values))


def _weighted_totals(names: Sequence[str], weights: Array, values: Array) -> dict[str, Array]:
    summed: Array = (weights @ values.reshape(len(values), -1)).reshape(len(weights), *values.shape[1:])
    return {name: summed[:, number] for number, name in enumerate(names)}


def observed(folds: Sequence[Fold], metric: Metric, aggregate: Aggregate) -> Array:
    """Return the aggregate score of each model [models] on the original documents."""
    of_folds = [scores(one, metric, np.ones((1, one.units))) for one in folds]
    original: Array = aggregated(folds, of_folds, aggregate)[0]
    return original


def aggregated(folds: Sequence[Fold], of_folds: Sequence[Array], aggregate: Aggregate) -> Array:
    """Aggregate the scores [resamplings, runs] of all folds to those of models [resamplings, models]."""
    together = _TOGETHER[aggregate]
    models = range(int(max(one.models.max() for one in folds)) + 1)
    per_model = [
        np.concatenate([s[:, one.models == m] for one, s in zip(folds, of_folds, strict=True)], axis=1)
        for m in models
    ]
    return np.stack([together(s, axis=1) for s in per_model], axis=1)


def compare(
    folds: Sequence[Fold],
    metric: Metric,
    aggregate: Aggregate,
    best: int,
    generator: np.random.Generator,
    resamplings: int = RESAMPLINGS,
) -> dict[int, Comparison]:
    """Compare the model `best` with each other one.

    Documents are drawn with replacement, the same for all models and seeds; for the intervals, seeds are
    drawn too, by model and fold.
    """
    original = observed(folds, metric, aggregate)
    others = [number for number in range(len(original)) if number != best]
    differences = original[best] - original[others]
    of_folds = []
    for one in folds:
        drawn = (drawn_documents(one.units, n, generator) for n in _chunk_sizes(resamplings, one.units))
        of_folds.append(np.concatenate([scores(one, metric, weights) for weights in drawn]))
    with_seeds = [_drawn_seeds(one, of, generator) for one, of in zip(folds, of_folds, strict=True)]
    by_documents, by_both = (aggregated(folds, values, aggregate) for values in (of_folds, with_seeds))
    shuffled = randomised(folds, metric, aggregate, best, others, generator, resamplings)
    return {
        other: Comparison(
            difference=float(differences[i]),
            bootstrap_p=p_value(
                by_documents[:, best] - by_documents[:, other] - differences[i], differences[i]
            ),
            randomisation_p=p_value(shuffled[:, i], differences[i]),
            interval=interval(by_both[:, best] - by_both[:, other]),
        )
        for i, other in enumerate(others)
    }


def drawn_documents(units: int, resamplings: int, generator: np.random.Generator) -> Array:
    """Return how often each document is drawn [resamplings, units]."""
    drawn = generator.integers(units, size=(resamplings, units))
    drawn += np.arange(resamplings)[:, None] * units
    counts = np.bincount(drawn.ravel(), minlength=resamplings * units)
    return counts.reshape(resamplings, units).astype(np.float64)


def _drawn_seeds(one: Fold, values: Array, generator: np.random.Generator) -> Array:
    chosen = np.empty(values.shape, dtype=np.int64)
    for model in np.unique(one.models):
        runs = np.flatnonzero(one.models == model)
        chosen[:, runs] = generator.choice(runs, size=(len(values), len(runs)))
    return np.take_along_axis(values, chosen, axis=1)


def randomised(
    folds: Sequence[Fold],
    metric: Metric,
    aggregate: Aggregate,
    best: int,
    others: Sequence[int],
    generator: np.random.Generator,
    resamplings: int,
) -> Array:
    """Return the differences [resamplings, others] between the best model and each other one after
    randomisation.

    The two models' predictions on each document are exchanged with probability 1/2 (Noreen 1989), for all
    seeds at once: under the null hypothesis the models are interchangeable. Runs are repeated until both
    models have the same number, which changes neither mean nor median.
    """
    sides = []
    for one in folds:
        pairs = [_paired_runs(one, best, other) for other in others]
        sides.append(_exchanged_scores(one, pairs, metric, generator, resamplings))
    together = _TOGETHER[aggregate]
    columns = []
    for i in range(len(others)):
        of_best, of_other = (np.concatenate([side[i][s] for side in sides], axis=1) for s in (0, 1))
        columns.append(together(of_best, axis=1) - together(of_other, axis=1))
    return np.stack(columns, axis=1)


def _paired_runs(one: Fold, best: int, other: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the runs of two models, repeated to a common number."""
    runs = [np.flatnonzero(one.models == model) for model in (best, other)]
    common = int(np.lcm(len(runs[0]), len(runs[1])))
    return np.tile(runs[0], common // len(runs[0])), np.tile(runs[1], common // len(runs[1]))


def _exchanged_scores(
    one: Fold,
    pairs: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]],
    metric: Metric,
    generator: np.random.Generator,
    resamplings: int,
) -> list[tuple[Array, Array]]:
    """Return both sides' scores [resamplings, runs] of each pair; all pairs exchange the same documents."""
    first, second = (np.concatenate([pair[side] for pair in pairs]) for side in (0, 1))
    gained = one.values[:, :, second] - one.values[:, :, first]
    whole = dict(zip(one.names, one.values.sum(axis=0), strict=True))
    sides: tuple[list[Array], list[Array]] = ([], [])
    for size in _chunk_sizes(resamplings, one.units):
        exchanged = generator.integers(2, size=(size, one.units), dtype=np.uint8).astype(np.float64)
        moved = _weighted_totals(one.names, exchanged, gained)
        sides[0].append(metric({name: whole[name][first] + moved[name] for name in one.names}))
        sides[1].append(metric({name: whole[name][second] - moved[name] for name in one.names}))
    ends = np.cumsum([len(pair[0]) for pair in pairs])[:-1]
    parts = [np.split(np.concatenate(side), ends, axis=1) for side in sides]
    return list(zip(*parts, strict=True))


def _chunk_sizes(resamplings: int, units: int) -> Iterator[int]:
    """Yield the numbers of resamplings that are computed at a time."""
    most = max(1, AT_ONCE // units)
    yield from (min(most, resamplings - start) for start in range(0, resamplings, most))


def p_value(chance: Array, difference: float) -> float:
    """Return the share of resamplings with a difference at least as large as the observed one in either
    direction; the observed one is counted too. Resamplings in which the metric is not defined are ignored."""
    there = chance[np.isfinite(chance)]
    larger = np.count_nonzero(np.abs(there) >= abs(difference) - 1e-12)
    return (1 + larger) / (1 + len(there))


def interval(differences: Array) -> tuple[float, float] | None:
    """Return the percentile interval at `CONFIDENCE`; None if the metric is never defined."""
    there = differences[np.isfinite(differences)]
    if not len(there):
        return None
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(there, [tail, 1 - tail])
    return float(low), float(high)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values adjusted by Holm (1979): the smallest is multiplied by their number, the next by one
    less, and so on; none is below the previous one."""
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for place, number in enumerate(sorted(range(len(p_values)), key=lambda number: p_values[number])):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[number]))
        adjusted[number] = highest
    return adjusted

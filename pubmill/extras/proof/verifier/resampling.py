"""Tests by resampled documents: paired bootstrap, randomisation, intervals, Holm's adjustment.

The draws are those of the study: numpy's generator with the same seeds, asked in the same order.
"""

from __future__ import annotations

from typing import Callable, Iterator, NamedTuple, Optional, Sequence

import numpy as np

from pubmill.extras.proof.verifier.metrics import METRICS, Numbers

RESAMPLINGS = 1000
CONFIDENCE = 0.95
AT_ONCE = 250_000
TOGETHER: dict[str, Callable[..., Numbers]] = {"mean": np.mean, "median": np.median}
Interval = Optional[tuple[float, float]]


class Fold(NamedTuple):
    """Counts on one test set [units, names, runs], and the model of each run. Counts are in single precision
    where all sums are whole numbers below 2^24, which it holds exactly."""

    names: list[str]
    values: Numbers
    models: Numbers


class Tested(NamedTuple):
    """The best model against another one, in points of 0..1."""

    other: int
    difference: float
    bootstrap_p: float
    randomisation_p: float
    interval: Interval


def scores_of(metric: str, names: Sequence[str], totals: Numbers) -> Numbers:
    """Return the scores of totals [..., names, runs]."""
    return METRICS[metric]({name: totals[:, place] for place, name in enumerate(names)})


def weighted(weights: Numbers, values: Numbers) -> Numbers:
    """Return totals [resamplings, names, runs]."""
    found: Numbers = weights.astype(values.dtype) @ values.reshape(len(values), -1)
    return found.reshape(len(weights), *values.shape[1:]).astype(float)


def chunks(units: int) -> Iterator[int]:
    most = max(1, AT_ONCE // units)
    yield from (min(most, RESAMPLINGS - start) for start in range(0, RESAMPLINGS, most))


def observed_scores(folds: Sequence[Fold], metric: str, aggregate: str) -> Numbers:
    """Return the score of each model on the documents as they are."""
    found = [scores_of(metric, f.names, weighted(np.ones((1, len(f.values))), f.values)) for f in folds]
    scores: Numbers = by_model(folds, found, aggregate)[0]
    return scores


def by_model(folds: Sequence[Fold], found: Sequence[Numbers], aggregate: str) -> Numbers:
    """Return scores of runs [resamplings, runs] as those of models [resamplings, models]."""
    number = 1 + max(int(fold.models.max()) for fold in folds)
    columns = []
    for model in range(number):
        runs = [scores[:, fold.models == model] for fold, scores in zip(folds, found)]
        columns.append(TOGETHER[aggregate](np.concatenate(runs, axis=1), axis=1))
    return np.stack(columns, axis=1)


def bootstrapped(
    folds: Sequence[Fold], metric: str, aggregate: str, generator: np.random.Generator
) -> tuple[Numbers, Numbers]:
    """Return scores of models on drawn documents: with all seeds, and with drawn seeds too."""
    found = []
    for fold in folds:
        parts, units = [], len(fold.values)
        for size in chunks(units):
            drawn = generator.integers(units, size=(size, units)) + np.arange(size)[:, None] * units
            counts = np.bincount(drawn.ravel(), minlength=size * units).reshape(size, units)
            parts.append(scores_of(metric, fold.names, weighted(counts, fold.values)))
        found.append(np.concatenate(parts))
    seeds = []
    for fold, scores in zip(folds, found):
        chosen = np.empty(scores.shape, dtype=np.int64)
        for model in np.unique(fold.models):
            runs = np.flatnonzero(fold.models == model)
            chosen[:, runs] = generator.choice(runs, size=(len(scores), len(runs)))
        seeds.append(np.take_along_axis(scores, chosen, axis=1))
    return by_model(folds, found, aggregate), by_model(folds, seeds, aggregate)


def exchanged(
    fold: Fold, pairs: Sequence[tuple[Numbers, Numbers]], metric: str, generator: np.random.Generator
) -> list[tuple[Numbers, Numbers]]:
    """Return the scores of both sides of each pair after exchanging random documents."""
    first, second = (np.concatenate([pair[side] for pair in pairs]) for side in (0, 1))
    gained = fold.values[:, :, second] - fold.values[:, :, first]
    whole = fold.values.sum(axis=0, dtype=float)
    units = len(fold.values)
    sides: tuple[list[Numbers], list[Numbers]] = ([], [])
    for size in chunks(units):
        swapped = generator.integers(2, size=(size, units), dtype=np.uint8)
        moved = weighted(swapped, gained)
        sides[0].append(scores_of(metric, fold.names, whole[:, first] + moved))
        sides[1].append(scores_of(metric, fold.names, whole[:, second] - moved))
    ends = np.cumsum([len(pair[0]) for pair in pairs])[:-1]
    split = [np.split(np.concatenate(side), ends, axis=1) for side in sides]
    return list(zip(*split))


def tested(folds: Sequence[Fold], metric: str, aggregate: str, seed: int) -> tuple[Numbers, list[Tested]]:
    """Return the scores of models, and the tests of the best against each other one."""
    generator = np.random.default_rng(seed)
    scores = observed_scores(folds, metric, aggregate)
    best = int(np.argmax(scores))
    others = [model for model in range(len(scores)) if model != best]
    documents, both = bootstrapped(folds, metric, aggregate, generator)
    sides = []
    for fold in folds:
        pairs = []
        for other in others:
            runs = [np.flatnonzero(fold.models == model) for model in (best, other)]
            common = int(np.lcm(len(runs[0]), len(runs[1])))
            pairs.append(tuple(np.tile(one, common // len(one)) for one in runs))
        sides.append(exchanged(fold, pairs, metric, generator))  # type: ignore[arg-type]
    tests = []
    for place, other in enumerate(others):
        upper, lower = (np.concatenate([one[place][s] for one in sides], axis=1) for s in (0, 1))
        shuffled = TOGETHER[aggregate](upper, axis=1) - TOGETHER[aggregate](lower, axis=1)
        gap = float(scores[best] - scores[other])
        tests.append(
            Tested(
                other,
                gap,
                share_beyond(documents[:, best] - documents[:, other] - gap, gap),
                share_beyond(shuffled, gap),
                percentiles(both[:, best] - both[:, other]),
            )
        )
    return scores, tests


def share_beyond(chance: Numbers, gap: float) -> float:
    """Return the p value: the share of differences as large as the gap, itself counted too."""
    there = chance[np.isfinite(chance)]
    return float(1 + np.count_nonzero(np.abs(there) >= abs(gap) - 1e-12)) / (1 + len(there))


def percentiles(gaps: Numbers) -> Interval:
    there = gaps[np.isfinite(gaps)]
    if not len(there):
        return None
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(there, [tail, 1 - tail])
    return float(low), float(high)


def holm_adjusted(p_values: Sequence[float]) -> list[float]:
    adjusted, highest = [0.0] * len(p_values), 0.0
    for place, number in enumerate(sorted(range(len(p_values)), key=lambda one: p_values[one])):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[number]))
        adjusted[number] = highest
    return adjusted

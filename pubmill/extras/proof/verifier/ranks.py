"""Ranks of models by means over datasets: of published values, and of runs."""

from __future__ import annotations

import zlib
from typing import Any, Mapping, Sequence

import numpy as np

from pubmill.extras.proof.verifier.forms import Json
from pubmill.extras.proof.verifier.metrics import Numbers
from pubmill.extras.proof.verifier.resampling import (
    CONFIDENCE,
    Fold,
    bootstrapped,
    holm_adjusted,
    observed_scores,
    percentiles,
)

DRAWS = 10_000
FEWEST = 6


class Scored:
    """Scores of models on datasets: observed [datasets, models], draws [datasets, draws, models], those of
    runs [dataset][model], and what is resampled within datasets."""

    def __init__(
        self, models: Sequence[str], observed: Numbers, draws: Numbers, runs: Any, levels: Sequence[str]
    ) -> None:
        self.models, self.observed, self.draws, self.runs, self.levels = models, observed, draws, runs, levels


def rows_by_dataset(rows: Sequence[Json], present: set[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in rows:
        if row["key"] in present and not row["metric"].endswith(("_precision", "_recall")):
            found.setdefault(row["dataset"] or row["key"], []).append(row["key"])
    return found


def complete_columns(columns: Sequence[Json], rows: Mapping[str, list[str]], there: Any) -> list[Json]:
    needed = [row for of_dataset in rows.values() for row in of_dataset]
    return [
        one
        for one in columns
        if one["model"] and needed and all((one["key"], row) in there for row in needed)
    ]


def scored_by_print(table: Json, values: Mapping[tuple[str, str], float]) -> Any:
    """Return the rows of datasets and the published scores of the models that have all of them."""
    rows = rows_by_dataset(table["rows"], {row for _, row in values})
    columns = complete_columns(table["columns"], rows, values)
    if len(columns) < 2:
        return rows, None
    observed = np.array(
        [[np.mean([values[one["key"], row] for row in of]) for one in columns] for of in rows.values()]
    )
    runs = [[np.array([score]) for score in of_dataset] for of_dataset in observed]
    return rows, Scored([one["label"] for one in columns], observed, observed[:, None, :], runs, ())


class RowOfRuns:
    """One row of a table: its folds, unit, scores of runs by column, and dataset."""

    def __init__(self, folds: list[Fold], unit: str, runs: Json, dataset: str, metric: str) -> None:
        self.folds, self.unit, self.runs, self.dataset, self.metric = folds, unit, runs, dataset, metric

    def drawn(self, table: str, aggregate: str) -> tuple[Numbers, Numbers]:
        """Return the observed scores [models] and those on drawn documents and seeds [draws, models]."""
        generator = np.random.default_rng(zlib.crc32(f"{table}/{self.dataset}".encode()))
        _, draws = bootstrapped(self.folds, self.metric, aggregate, generator)
        return 100 * observed_scores(self.folds, self.metric, aggregate), 100 * draws


def scored_by_runs(
    name: str, aggregate: str, labels: Sequence[str], rows: Sequence[Sequence[RowOfRuns]]
) -> Scored:
    """Return the scores of models by their runs; several rows of a dataset are averaged."""
    drawn = [[row.drawn(name, aggregate) for row in of_dataset] for of_dataset in rows]
    observed = np.array([np.mean([one for one, _ in of_dataset], axis=0) for of_dataset in drawn])
    draws = np.array([np.mean([one for _, one in of_dataset], axis=0) for of_dataset in drawn])
    first = [of_dataset[0] for of_dataset in rows]
    runs = [[np.array(scores) for scores in row.runs.values()] for row in first]
    units: dict[str, int] = {}
    for row in first:
        units[row.unit] = units.get(row.unit, 0) + sum(len(fold.values) for fold in row.folds)
    levels = [f"{number} {unit}s" for unit, number in units.items()]
    sizes = [len(scores) for row in runs for scores in row]
    if max(sizes) > 1:
        number = f"{min(sizes)} to {max(sizes)}" if min(sizes) < max(sizes) else f"{min(sizes)}"
        levels.append(f"{number} seeds of a model on a dataset")
    return Scored(labels, observed, draws, runs, levels)


def weights_by_mean(composites: Sequence[Json], rows: Mapping[str, list[str]]) -> dict[str, Numbers]:
    """Return the weights of datasets in each mean: the plain one, unless a composite is the same, and the
    composites."""
    places = {row: place for place, of_dataset in enumerate(rows.values()) for row in of_dataset}
    found: dict[str, Numbers] = {}
    for one in composites:
        groups = list(one["groups"].values())
        if all(row in places for group in groups for row in group):
            weights = np.zeros(len(rows))
            for group in groups:
                for row in group:
                    weights[places[row]] += 1 / len(groups) / len(group)
            found[one["label"]] = weights
    plain = np.full(len(rows), 1 / len(rows))
    same_mean = any(np.allclose(plain, weights) for weights in found.values())
    return found if same_mean else {"mean of the datasets": plain, **found}


def rankings(recipe: Json, scored: Scored, rows: Mapping[str, list[str]], same_too: bool) -> list[Json]:
    """Return the rankings over drawn datasets, where there are enough, and on the same datasets."""
    means = weights_by_mean(recipe["composites"], rows)
    drawn = [
        ranking(recipe, label, scored, weights, True)
        for label, weights in means.items()
        if np.count_nonzero(weights) >= FEWEST
    ]
    same = [ranking(recipe, label, scored, weights, False) for label, weights in means.items()]
    return drawn + (same if same_too else [])


def ranking(recipe: Json, label: str, scored: Scored, weights: Numbers, over_datasets: bool) -> Json:
    """Return the ranking by one mean."""
    table = f"{recipe['paper']}/{recipe['table']}"
    used = np.flatnonzero(weights)
    levels = [*([f"{len(used)} datasets"] if over_datasets else []), *scored.levels]
    generator = np.random.default_rng(zlib.crc32(f"{table}/{label}/{'+'.join(levels)}".encode()))
    means = np.average(scored.observed[used], axis=0, weights=weights[used])
    values, own = scored.draws[used], weights[used]
    if over_datasets:
        chosen = generator.integers(len(used), size=(DRAWS, len(used)))
    else:
        chosen = np.broadcast_to(np.arange(len(used)), (DRAWS, len(used)))
    scores = values[chosen, generator.integers(values.shape[1], size=chosen.shape)]
    drawn = np.einsum("rdm,rd->rm", scores, own[chosen]) / own[chosen].sum(axis=1, keepdims=True)
    drawn = drawn[np.isfinite(drawn).all(axis=1)]
    order = [int(model) for model in np.argsort(-means, kind="stable")]
    p_values = both_sided(drawn)
    better = significantly_better(means, p_values)
    groups = tie_groups(order, better)
    models = [
        {
            "model": scored.models[model],
            "score": float(means[model]),
            "low": 1 + int(better[:, model].sum()),
            "high": len(order) - int(better[model].sum()),
            "group": groups[model],
        }
        for model in order
    ]
    pairs = []
    for upper, lower in zip(order, order[1:]):
        gaps = drawn[:, upper] - drawn[:, lower]
        pairs.append(
            {
                "upper": scored.models[upper],
                "lower": scored.models[lower],
                "difference": float(means[upper] - means[lower]),
                "interval": percentiles(gaps),
                "reversed": float(np.mean(gaps <= 0)) if len(gaps) else 1.0,
                "improvement": improvement(
                    [(scored.runs[one][upper], scored.runs[one][lower]) for one in used]
                ),
                "resolved": bool(p_values[upper, lower] <= 1 - CONFIDENCE),
            }
        )
    name = {"table": table, "paper": recipe["paper"], "number": int(recipe["table"][len("table") :])}
    return {
        **name, "score": label, "levels": levels, "datasets": len(used), "models": models, "adjacent": pairs,
    }  # fmt: skip


def both_sided(drawn: Numbers) -> Numbers:
    """Return the p values [models, models] that two models are equal; ties count for both orders."""
    ahead = np.array([np.count_nonzero(one[:, None] >= drawn, axis=0) for one in drawn.T])
    p_values: Numbers = np.minimum(1.0, 2 * (1 + np.minimum(ahead, ahead.T)) / (1 + len(drawn)))
    return p_values


def significantly_better(means: Numbers, p_values: Numbers) -> Numbers:
    """Return which models [better, worse] are better, for all pairs together."""
    first, second = np.triu_indices(len(means), 1)
    adjusted = np.ones_like(p_values)
    adjusted[first, second] = holm_adjusted([float(one) for one in p_values[first, second]])
    adjusted = np.minimum(adjusted, adjusted.T)
    found: Numbers = (adjusted <= 1 - CONFIDENCE) & (means[:, None] > means)
    return found


def tie_groups(order: Sequence[int], better: Numbers) -> list[int]:
    groups, number = [0] * len(order), 1
    for place, model in enumerate(order):
        if place and better[np.ix_(order[:place], order[place:])].all():
            number += 1
        groups[model] = number
    return groups


def improvement(pairs: Sequence[tuple[Numbers, Numbers]]) -> float:
    """Return the mean probability that a run of the first is better than one of the second."""
    shares = [np.mean((a[:, None] > b) + 0.5 * (a[:, None] == b)) for a, b in pairs]
    return float(np.mean(shares))

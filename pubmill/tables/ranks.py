"""Ranks of the models of a table: which of them its published values, or the runs of a study, resolve.

A model is ranked if it has a value for every dataset of the table that has any. Precision and recall are left
out where their F1 is there too; several scores on one dataset are averaged first, so that datasets are
resampled, not rows. Computed columns and values of other systems are not ranked.
"""

import zlib
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pandas import DataFrame

from pubmill.messages.wording import aligned
from pubmill.metrics import METRICS
from pubmill.metrics.contributions import Array
from pubmill.recipes.audits import AuditedTable, AuditRecipe
from pubmill.recipes.tables import Composite, Row, table_title
from pubmill.statistics.rank_intervals import (
    FEWEST,
    Ranks,
    means_on_the_same_datasets,
    probability_of_improvement,
    ranks,
    resampled_means,
)
from pubmill.statistics.resampling import RESAMPLINGS, bootstrap, observed
from pubmill.statistics.verdict_models import Shape
from pubmill.tables.cells import Table
from pubmill.tables.comparisons import own_runs, row_folds
from pubmill.tables.published_values import published_of_cells, read_published
from pubmill.tables.table_frames import run_frame

MEAN = "mean of the datasets"
FEW = f"fewer than {FEWEST} datasets: a paired test over so few cannot reach 5 %"
Resampling = Callable[[Array, Array, np.random.Generator], Array]
"""Values, weights of datasets, generator -> weighted means [resamplings, models]."""
ONE_MODEL = "fewer than two models have a value for every dataset"
MODELS = ("model", "score", "group", "rank")
PAIRS = ("pair", "difference", "95 % interval", "reversed", "improvement", "order at 5 %")


class RankedModel(Shape):
    """A model with its mean score, rank interval (`low` to `high`) and tie group."""

    model: str
    score: float
    low: int
    high: int
    group: int

    @property
    def interval(self) -> str:
        """The rank interval as text, such as 1 or 1 to 3 with a dash."""
        return str(self.low) if self.low == self.high else f"{self.low}\N{EN DASH}{self.high}"


class AdjacentPair(Shape):
    """Two models with adjacent ranks: see `rank_intervals.Adjacent`. `improvement`: the probability that a
    run of the upper model is better than one of the lower, over datasets; of published values, the share of
    datasets on which it is better."""

    upper: str
    lower: str
    difference: float
    interval: tuple[float, float] | None
    reversed: float
    improvement: float
    resolved: bool


class Ranking(Shape):
    """The models of a table, best first, by one mean over datasets. `levels`: what is resampled."""

    table: str
    paper: str
    number: int
    score: str
    levels: tuple[str, ...]
    datasets: int
    models: tuple[RankedModel, ...]
    adjacent: tuple[AdjacentPair, ...]

    @property
    def unresolved(self) -> int:
        """The number of adjacent pairs whose order is not resolved."""
        return sum(not pair.resolved for pair in self.adjacent)

    @property
    def tie_groups(self) -> list[list[RankedModel]]:
        """The models by tie group, the best group first."""
        last = self.models[-1].group
        return [[one for one in self.models if one.group == number] for number in range(1, last + 1)]


class Scores(NamedTuple):
    """The scores of models on datasets. `observed` [datasets, models]; `values` [datasets, draws, models], as
    `rank_intervals` defines them; `runs` [dataset][model]: the scores of its runs; `levels`: what is
    resampled within datasets."""

    models: tuple[str, ...]
    observed: Array
    values: Array
    runs: Sequence[Sequence[Array]]
    levels: tuple[str, ...]


def published_rankings(recipe: AuditRecipe, specs: Path) -> tuple[Ranking, ...]:
    """Rank the models of every table by its published values."""
    return tuple(one for table in recipe.tables for one in rankings_of(table, specs)[0])


def rankings_of(table: AuditedTable, specs: Path) -> tuple[list[Ranking], str]:
    """Rank the models of a table by its published values; with no ranking, return why."""
    printed = read_published(specs / table.file, table.left_out)
    values = {cell: one.value for cell, one in published_of_cells(table.columns, table.rows, printed).items()}
    rows = rows_of_datasets(table, {row for _, row in values})
    columns = [column for column in table.columns if column.model and is_complete(column.key, rows, values)]
    if len(columns) < 2:
        return [], ONE_MODEL
    observed = np.array(
        [[np.mean([values[one.key, row] for row in some]) for one in columns] for some in rows.values()]
    )
    runs = [[np.array([score]) for score in of_dataset] for of_dataset in observed]
    scores = Scores(tuple(column.label for column in columns), observed, observed[:, None, :], runs, ())
    means = weights_of_means(table.composites, rows)
    return [*over_datasets(table, scores, means)], "" if len(rows) >= FEWEST else FEW


def over_datasets(table: AuditedTable, scores: Scores, means: Mapping[str, Array]) -> Iterator[Ranking]:
    """Yield a ranking for each mean over at least `FEWEST` datasets; datasets are resampled too."""
    for label, weights in means.items():
        if np.count_nonzero(weights) >= FEWEST:
            yield ranking(table, label, scores, weights, resampled_means)


def rows_of_datasets(table: AuditedTable, present: Collection[str]) -> dict[str, list[str]]:
    """Return dataset -> those of its rows that are present, without precision and recall."""
    rows: dict[str, list[str]] = {}
    for row in table.rows:
        if row.key in present and row.part not in ("precision", "recall"):
            rows.setdefault(row.dataset or row.key, []).append(row.key)
    return rows


def is_complete(column: str, rows: Mapping[str, Sequence[str]], there: Container[tuple[str, str]]) -> bool:
    """Return whether `there` has a cell of the column in each of these rows; False without rows."""
    return bool(rows) and all((column, row) in there for of_dataset in rows.values() for row in of_dataset)


def weights_of_means(composites: Sequence[Composite], rows: Mapping[str, Sequence[str]]) -> dict[str, Array]:
    """Return label of a mean -> weights of the datasets: their plain mean, unless a composite equals it, then
    the composites whose rows are all in `rows`."""
    places = {row: place for place, of_dataset in enumerate(rows.values()) for row in of_dataset}
    means: dict[str, Array] = {}
    for one in composites:
        weighted = [(row, 1 / len(one.groups) / len(group)) for group in one.groups.values() for row in group]
        if all(row in places for row, _ in weighted):
            means[one.label] = np.zeros(len(rows))
            for row, weight in weighted:
                means[one.label][places[row]] += weight
    plain = np.full(len(rows), 1 / len(rows)) if rows else np.zeros(0)
    same = any(np.allclose(plain, weights) for weights in means.values())
    return means if same else {MEAN: plain, **means}


def ranking(table: AuditedTable, label: str, scores: Scores, weights: Array, resample: Resampling) -> Ranking:
    """Rank models by one mean, over the datasets that have a weight in it."""
    used = np.flatnonzero(weights)
    drawn = (f"{len(used)} datasets",) if resample is resampled_means else ()
    levels = (*drawn, *scores.levels)
    generator = np.random.default_rng(zlib.crc32(f"{table.name}/{label}/{'+'.join(levels)}".encode()))
    observed = np.average(scores.observed[used], axis=0, weights=weights[used])
    ranked = ranks(observed, resample(scores.values[used], weights[used], generator))
    return Ranking(
        table=table.name,
        paper=table.paper,
        number=table.number,
        score=label,
        levels=levels,
        datasets=len(used),
        models=tuple(
            RankedModel(
                model=scores.models[number],
                score=ranked.scores[number],
                low=ranked.low[number],
                high=ranked.high[number],
                group=ranked.groups[number],
            )
            for number in ranked.order
        ),
        adjacent=_adjacent_pairs(ranked, scores.models, [scores.runs[int(place)] for place in used]),
    )


def _adjacent_pairs(
    ranked: Ranks, labels: Sequence[str], runs: Sequence[Sequence[Array]]
) -> tuple[AdjacentPair, ...]:
    pairs = []
    for pair in ranked.adjacent:
        upper, lower = ([of_dataset[model] for of_dataset in runs] for model in (pair.upper, pair.lower))
        named = {"upper": labels[pair.upper], "lower": labels[pair.lower]}
        better = probability_of_improvement(upper, lower)
        pairs.append(AdjacentPair(**(pair._asdict() | named), improvement=better))
    return tuple(pairs)


class _RowScores(NamedTuple):
    """The scores of one row in points: `observed` [models], `draws` [resamplings, models], those of each
    model's runs, and the resampled units."""

    observed: Array
    draws: Array
    runs: list[Array]
    unit: str
    units: int


def rankings_of_runs(audited: AuditedTable, table: Table, results: Path) -> tuple[list[Ranking], str]:
    """Rank the models with complete runs on every dataset that has any. Each mean gives a ranking with the
    datasets fixed and, over enough datasets, one that resamples them. Without a ranking, return why."""
    runs = run_frame(table)
    runs = runs[runs["complete"].astype(bool)]  # without runs, the column is not boolean
    there = set(zip(runs["column"], runs["row"], strict=True))
    rows = rows_of_datasets(audited, {row for _, row in there})
    labels = {one.key: one.label for one in table.columns if one.model and is_complete(one.key, rows, there)}
    if len(labels) < 2:
        return [], ONE_MODEL
    scores = _scores(table, runs[runs["column"].isin(labels)], rows, labels, results)
    means = weights_of_means(audited.composites, rows)
    same = [ranking(audited, label, scores, of, means_on_the_same_datasets) for label, of in means.items()]
    return [*over_datasets(audited, scores, means), *same], ""


def _scores(
    table: Table, runs: DataFrame, rows: Mapping[str, Sequence[str]], labels: Mapping[str, str], results: Path
) -> Scores:
    """Return the scores of the models on all datasets; several rows of a dataset are averaged."""
    known = {row.key: row for row in table.rows}
    row_scores = [
        [_row_scores(table, known[row], runs[runs["row"] == row], [*labels], results) for row in of_dataset]
        for of_dataset in rows.values()
    ]
    values = np.array([np.mean([one.draws for one in of_dataset], axis=0) for of_dataset in row_scores])
    means = np.array([np.mean([one.observed for one in of_dataset], axis=0) for of_dataset in row_scores])
    first = [of_dataset[0] for of_dataset in row_scores]
    return Scores(tuple(labels.values()), means, values, [one.runs for one in first], _levels(first))


def _row_scores(table: Table, row: Row, runs: DataFrame, columns: Sequence[str], results: Path) -> _RowScores:
    """Resample documents and seeds of a row; rows of one dataset draw the same ones."""
    folds, unit = row_folds(row, own_runs(row, runs), columns, results)
    metric = METRICS[row.metric].function
    generator = np.random.default_rng(zlib.crc32(f"{table.paper}/{table.table}/{row.dataset}".encode()))
    _, draws = bootstrap(folds, metric, table.aggregate, generator, RESAMPLINGS)
    scores = runs.groupby("column")["score"].agg(list)
    return _RowScores(
        observed=100 * observed(folds, metric, table.aggregate),
        draws=100 * draws,
        runs=[np.array(scores[column]) for column in columns],
        unit=unit,
        units=sum(one.units for one in folds),
    )


def _levels(rows: Sequence[_RowScores]) -> tuple[str, ...]:
    """Return what is resampled within datasets; single runs have no seeds to draw from."""
    units: dict[str, int] = {}
    for row in rows:
        units[row.unit] = units.get(row.unit, 0) + row.units
    sizes = [len(scores) for row in rows for scores in row.runs]
    seeds = f"{min(sizes)} to {max(sizes)} seeds" if min(sizes) < max(sizes) else f"{min(sizes)} seeds"
    documents = tuple(f"{number} {unit}s" for unit, number in units.items())
    return (*documents, *([f"{seeds} of a model on a dataset"] if max(sizes) > 1 else []))


def as_text(ranked: Ranking) -> str:
    """Return a ranking as tables of text."""
    title = f"{table_title(ranked.table)}, {ranked.score}; drawn with replacement: {', '.join(ranked.levels)}"
    pairs = f"{ranked.unresolved} of {len(ranked.adjacent)} adjacent ranks unresolved at 5 %"
    lines = [(one.model, f"{one.score:.2f}", str(one.group), one.interval) for one in ranked.models]
    models = aligned([MODELS, *lines])
    return "\n".join([title, "", *models, "", pairs, *aligned([PAIRS, *map(_pair_line, ranked.adjacent)])])


def _pair_line(one: AdjacentPair) -> tuple[str, ...]:
    interval = f"{one.interval[0]:+.2f} to {one.interval[1]:+.2f}" if one.interval else "none"
    order = "resolved" if one.resolved else "unresolved"
    numbers = f"{one.difference:.2f}", interval, f"{one.reversed:.3f}", f"{one.improvement:.2f}"
    return f"{one.upper} > {one.lower}", *numbers, order

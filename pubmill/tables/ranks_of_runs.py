"""Ranks of the models of a table by the runs of a study, with documents and seeds resampled too."""

import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pandas import DataFrame

from pubmill.metrics import METRICS
from pubmill.metrics.contributions import Array
from pubmill.recipes.audits import AuditedTable
from pubmill.recipes.tables import Row
from pubmill.statistics.rank_intervals import means_on_the_same_datasets
from pubmill.statistics.resampling import RESAMPLINGS, bootstrap, observed
from pubmill.tables.cells import Table
from pubmill.tables.comparisons import own_runs, row_folds
from pubmill.tables.ranks import (
    ONE_MODEL,
    Ranking,
    Scores,
    is_complete,
    over_datasets,
    ranking,
    rows_of_datasets,
    weights_of_means,
)
from pubmill.tables.table_frames import run_frame


class _RowScores(NamedTuple):
    """The scores of one row in points: `observed` [models], `draws` [resamplings, models], those of each
    model's runs, and the resampled units."""

    observed: Array
    draws: Array
    runs: list[Array]
    unit: str
    units: int


def rankings_of_runs(audited: AuditedTable, table: Table, results: Path) -> tuple[list[Ranking], str]:
    """Rank the models of a table that have complete runs on every dataset with any: with datasets drawn too
    where there are enough, and on the same datasets. With no ranking, return why."""
    runs = run_frame(table)
    runs = runs[runs["complete"].astype(bool)]  # of no runs, the column has no type
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

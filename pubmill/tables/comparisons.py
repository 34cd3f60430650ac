"""Compare the models in each row of a table with the best of them.

Only complete cells with runs are compared. The best model is determined on the same test set, so the p values
do not show whether it would also be the best on another one.
"""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from pandas import DataFrame

from pubmill.errors import PubmillError
from pubmill.metrics import METRICS
from pubmill.metrics.contributions import Array, Contributions, Totals, contributions_read_by, read_items
from pubmill.recipes.tables import Heading, Row, values_of
from pubmill.statistics.resampling import CONFIDENCE, RESAMPLINGS, Fold, compare, fold, holm, observed
from pubmill.statistics.verdict_models import Shape
from pubmill.storage.result_paths import RELATIVE
from pubmill.tables.cells import Table, find_unique
from pubmill.tables.table_frames import run_frame


class ModelPair(Shape):
    """The best model compared with another column. `difference`: in points (0..100); p values are raw and
    adjusted (Holm) for all pairs of the row; `interval`: confidence interval of the difference over seeds and
    documents, None if no resampling has a score."""

    other: str
    difference: float
    bootstrap_p: float
    bootstrap_adjusted: float
    randomisation_p: float
    randomisation_adjusted: float
    interval: tuple[float, float] | None


class RowComparisons(Shape):
    """Comparisons in one row. `units`: number of resampled units of the kind `unit` (document, question,
    example); `best`: the key of the best column."""

    row: str
    unit: str
    units: int
    best: str
    pairs: tuple[ModelPair, ...]


class Comparisons(Heading):
    """Comparisons in all rows of a table with at least two complete cells; labels are by key."""

    aggregate: str
    resamplings: int
    confidence: float
    row_labels: dict[str, str]
    metrics: dict[str, str]
    column_labels: dict[str, str]
    rows: tuple[RowComparisons, ...]

    @property
    def method(self) -> str:
        """The statistical method in words."""
        return (
            "The best model of each row, in points, minus each other one: the difference of their "
            f"{self.aggregate}s over seeds. The interval ({100 * self.confidence:.0f} %, percentiles) is "
            f"over seeds and documents, both drawn with replacement {self.resamplings} times. The p values "
            "are two-sided and over documents alone: a paired bootstrap, and randomisation, which exchanges "
            "what two models predict of a document. Adjusted: for all comparisons of a row (Holm). Which "
            "model is the best was seen on the same test set."
        )


def comparisons(table: Table, results: Path) -> Comparisons:
    """Compare the models of every row, from the contribution files beside the records."""
    rows = [row for row in table.rows if row.shown]
    runs = run_frame(table)
    of_rows = dict(list(runs[runs["complete"].astype(bool)].groupby("row")))
    compared = (_compare_row(table, row, of_rows[row.key], results) for row in rows if row.key in of_rows)
    return Comparisons(
        **values_of(Heading, table),
        aggregate=table.aggregate,
        resamplings=RESAMPLINGS,
        confidence=CONFIDENCE,
        row_labels={row.key: row.label for row in rows},
        metrics={row.key: row.metric for row in rows},
        column_labels={column.key: column.label for column in table.columns},
        rows=tuple(one for one in compared if one is not None),
    )


def with_columns(table: Table, columns: Sequence[str]) -> Table:
    """Return the table with only these columns, given by key or label, or the beginning of either."""
    keys = {find_unique("column", name, table.columns, lambda one: one.key).key for name in columns}
    if len(keys) == 1:
        raise PubmillError(f"{' and '.join(columns)}: one column, {keys.pop()}; name at least two to compare")
    return replace(
        table,
        columns=tuple(column for column in table.columns if column.key in keys),
        cells={key: cells for key, cells in table.cells.items() if key in keys},
    )


def _compare_row(table: Table, row: Row, runs: DataFrame, results: Path) -> RowComparisons | None:
    """Compare the models of a row by the runs of its complete cells on its own dataset."""
    runs = runs[runs["dataset"].isin(row.folds or (row.dataset,))]
    columns = list(runs["column"].unique())
    if len(columns) < 2:
        return None
    metric = METRICS[row.metric].function
    folds, unit = row_folds(row, runs, columns, results)
    scores = observed(folds, metric, table.aggregate)
    for column, score in zip(columns, (100 * float(one) for one in scores), strict=True):
        shown = table.cells[column][row.key].value
        if shown is None or abs(shown - score) > 1e-6:
            label = next(one.label for one in table.columns if one.key == column)
            raise PubmillError(
                f"{table.paper}/{table.table}: {label} on {row.label} is {shown}, but its contributions "
                f"give {score}; they belong to other runs. Score these runs again, then rebuild the table"
            )
    best = int(np.argmax(scores))
    generator = np.random.default_rng(zlib.crc32(f"{table.paper}/{table.table}/{row.key}".encode()))
    compared = compare(folds, metric, table.aggregate, best, generator)
    bootstrap = holm([one.bootstrap_p for one in compared.values()])
    randomisation = holm([one.randomisation_p for one in compared.values()])
    return RowComparisons(
        row=row.key,
        unit=unit,
        units=sum(one.units for one in folds),
        best=columns[best],
        pairs=tuple(
            ModelPair(
                other=columns[other],
                difference=100 * one.difference,
                bootstrap_p=one.bootstrap_p,
                bootstrap_adjusted=bootstrap[number],
                randomisation_p=one.randomisation_p,
                randomisation_adjusted=randomisation[number],
                interval=one.interval and (100 * one.interval[0], 100 * one.interval[1]),
            )
            for number, (other, one) in enumerate(compared.items())
        ),
    )


def row_folds(row: Row, runs: DataFrame, columns: Sequence[str], results: Path) -> tuple[list[Fold], str]:
    """Return a `Fold` for each test set of a row, with the runs of `columns`, and the resampled unit."""
    metric = METRICS[row.metric].function
    datasets = [of_dataset for _, of_dataset in runs.groupby("dataset", sort=False)]
    scored = [read_contributions(list(of_dataset["record"]), metric, results) for of_dataset in datasets]
    folds = []
    for of_dataset, (parts, _) in zip(datasets, scored, strict=True):
        paths = of_dataset.groupby("column")["record"].agg(list)
        folds.append(fold([[parts[path] for path in paths.get(column, [])] for column in columns]))
    return folds, scored[0][1]


def read_contributions(
    records: Sequence[str], metric: Callable[[Totals], Array], results: Path
) -> tuple[dict[str, Contributions], str]:
    """Return record -> its contributions to a metric, and the resampled unit (document, question, example).
    All records must have been scored on the same documents."""
    items = {path: read_items(results / RELATIVE.contributions(path)) for path in records}
    first, scored = items[records[0]], dict[str, Contributions]()
    for path, one in items.items():
        if one.contributions is None:
            raise PubmillError(f"{path} has a score, but its contributions are missing; score the run again")
        scored[path] = one.contributions
        if one[:3] != first[:3] or len(one.contributions.values) != len(scored[records[0]].values):
            raise PubmillError(
                f"{records[0]} and {path} were scored on different examples; score the older one again "
                "(remove it)"
            )
    return {path: contributions_read_by(metric, one) for path, one in scored.items()}, first.unit

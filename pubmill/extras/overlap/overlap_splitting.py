"""Split a table's scores by what the scored items share with training, and render them."""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from pandas import DataFrame

from pubmill.extras.overlap.overlap_of_runs import DatasetItems, added
from pubmill.extras.overlap.overlap_recipes import TRAINING, OverlapRecipe
from pubmill.metrics.records import read_record
from pubmill.recipes.tables import Heading, values_of
from pubmill.report.overlap_figures import recall_strips
from pubmill.report.rendering import renderers
from pubmill.storage.names_in_paths import run_of
from pubmill.storage.result_paths import OVERLAP_FORMATS
from pubmill.tables.cells import Cell, Table
from pubmill.tables.overlap_tables import BY, CellParts, Dated, OverlapTable, PartScores


def overlap_table(recipe: OverlapRecipe, table: Table, results: Path) -> OverlapTable:
    """Split the scores of a table's cells, from the predictions in a results folder."""
    items = _Items(results)
    cells = tuple(
        parts
        for row in table.rows
        for column, rows in recipe.cells.items()
        if row.key in rows
        for parts in items.cell_parts(
            row.key, column, table.cells[column][row.key], recipe.corpora.get(column, ()), recipe.dated
        )
    )
    shown = {one.row for one in cells}
    return OverlapTable(
        **values_of(Heading, table),
        training=TRAINING,
        row_labels={row.key: row.label for row in table.rows if row.key in shown},
        column_labels={column.key: column.label for column in table.columns},
        cells=cells,
    )


class _Items:
    """The items of datasets, each read once."""

    def __init__(self, results: Path) -> None:
        self._results = results
        self._of = cache(lambda dataset: DatasetItems(results, dataset, TRAINING))

    def cell_parts(
        self, row: str, column: str, cell: Cell, corpora: Sequence[str], dated: Sequence[str]
    ) -> Iterator[CellParts]:
        """Yield the scores of a cell's runs, split in each way; runs without a score are left out."""
        records = [seed.record for seed in cell.seeds if seed.value is not None]
        items = [(path, self._of(run_of(path).dataset)) for path in records]
        made = [of.parts(self._results / path, corpora, dated) for path, of in items]
        for by, parts in added(made).items() if made else ():
            scores = tuple(PartScores(part=part, **counts._asdict()) for part, counts in parts.items())
            of_documents = self._dated(records, dated) if dated and by == "documents" else None
            yield CellParts(row=row, column=column, by=by, runs=len(made), parts=scores, dated=of_documents)

    def _dated(self, records: Sequence[str], corpora: Sequence[str]) -> Dated:
        """Return the numbers of scored documents with a year, of all datasets of a cell."""
        first = {run_of(path).dataset: self._results / path for path in reversed(records)}
        dated = [self._of(name).dated(read_record(path), corpora) for name, path in first.items()]
        return Dated(
            documents=sum(one.documents for one in dated),
            with_year=sum(one.with_year for one in dated),
            unnamed=sum(one.unnamed for one in dated),
        )


def overlap_frame(table: OverlapTable) -> DataFrame:
    """Return a line for each part of each cell."""
    columns = ["row", "column", "by", "part", "runs", "gold", "predicted", "correct"]
    lines = [
        (one.row, one.column, one.by, part.part, one.runs, *part.counts)
        for one in table.cells
        for part in one.parts
    ]
    return DataFrame(lines, columns=columns)


OVERLAP_RENDERERS = renderers(
    "overlap",
    OVERLAP_FORMATS,
    lambda table: {"found": table, "by": BY, "strips": recall_strips(table)},
    overlap_frame,
)

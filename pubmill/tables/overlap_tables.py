"""A table's scores split by what the scored items share with training."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pandas import DataFrame
from pydantic import Field

from pubmill.examples.kinds import Split
from pubmill.metrics.records import read_record
from pubmill.metrics.training_overlap import CONCEPT_PARTS, NOT_KNOWN, Counts, total
from pubmill.recipes.overlaps import OverlapRecipe
from pubmill.recipes.tables import Heading, values_of
from pubmill.statistics.verdict_models import Shape
from pubmill.storage.files import read_json
from pubmill.storage.names_in_paths import run_of
from pubmill.tables.cells import Cell, Table, parse
from pubmill.tables.overlap_of_runs import DatasetItems, Dated, added

TRAINING: tuple[Split, ...] = ("train",)
"""The splits that items are compared with."""


BY = {
    "mentions": "by the words of mentions",
    "arguments": "by the arguments of relations",
    "documents": "by documents that are in training too",
    "pretraining": "by documents found in the pretraining corpus",
    "years": "by year of publication",
}
"""What scores are split by -> its heading, in the order in which they are shown."""


def _is_none(value: object) -> bool:
    return value is None


class PartScores(Shape):
    """Counts of a part, added up over the runs of a cell."""

    part: str
    gold: int
    predicted: int
    correct: int

    @property
    def counts(self) -> Counts:
        return Counts(self.gold, self.predicted, self.correct)

    @property
    def has_precision(self) -> bool:
        """Whether wrong predictions can be in the part; those have no identifiers."""
        return self.part not in CONCEPT_PARTS


class CellParts(Shape):
    """The scores of a cell, split `by` mentions, arguments, documents, pretraining or years. `dated`: its
    scored documents, of the split by documents, if their years were looked up."""

    row: str
    column: str
    by: str
    runs: int
    parts: tuple[PartScores, ...]
    dated: Dated | None = Field(default=None, exclude_if=_is_none)

    @property
    def says_something(self) -> bool:
        """Whether any item is in a part whose documents or years are known."""
        return any(part.gold or part.predicted for part in self.parts if part.part not in NOT_KNOWN)

    @property
    def together(self) -> Counts:
        """The counts of all parts."""
        return total(one.counts for one in self.parts)

    def share(self, part: PartScores) -> float:
        """Return a part's share of the gold items."""
        return part.gold / self.together.gold if self.together.gold else 0.0


@dataclass(frozen=True, kw_only=True)
class OverlapTable(Heading):
    """Split scores of the cells of a table with runs on entities or relations; labels are by key."""

    training: tuple[str, ...]
    row_labels: dict[str, str]
    column_labels: dict[str, str]
    cells: tuple[CellParts, ...]

    @property
    def method(self) -> str:
        """What is split, in words."""
        return (
            f"Gold and predicted items, split by what they share with {' and '.join(self.training)}. The "
            "counts of all runs of a cell are added up; those of the parts add up to the whole. Mentions: "
            "the same words (verbatim), the same but for case, the same letters and digits (other form), or "
            "new words; of these a new name of a known concept, a new concept, or no identifier, such as a "
            "wrong prediction. Arguments of relations: the two together, both apart, one, or none."
        )

    @property
    def groups(self) -> list[list[CellParts]]:
        """The cells of each row that are split into the same parts, without those about which nothing is
        known."""
        found: dict[tuple[str, ...], list[CellParts]] = {}
        for one in (one for one in self.cells if one.says_something):
            found.setdefault((one.row, one.by, *(part.part for part in one.parts)), []).append(one)
        rows, by = list(self.row_labels), list(BY)
        return sorted(found.values(), key=lambda ones: (rows.index(ones[0].row), by.index(ones[0].by)))

    @property
    def year_notes(self) -> list[str]:
        """How many documents of each row have a year."""
        of_rows = {one.row: one.dated for one in self.cells if one.dated}
        return [f"{self.row_labels[row]}: {dated.text}." for row, dated in of_rows.items()]


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
        made = [
            self._of(run_of(path).dataset).parts(self._results / path, corpora, dated) for path in records
        ]
        for by, parts in added(made).items() if made else ():
            scores = tuple(PartScores(part=part, **counts._asdict()) for part, counts in parts.items())
            of_documents = self._dated(records, dated) if dated and by == "documents" else None
            yield CellParts(row=row, column=column, by=by, runs=len(made), parts=scores, dated=of_documents)

    def _dated(self, records: Sequence[str], corpora: Sequence[str]) -> Dated:
        """Return the numbers of scored documents with a year, of all datasets of a cell."""
        first = {run_of(path).dataset: path for path in reversed(records)}
        found = [
            self._of(name).dated(read_record(self._results / path), corpora) for name, path in first.items()
        ]
        return Dated(
            documents=sum(one.documents for one in found),
            with_year=sum(one.with_year for one in found),
            unnamed=sum(one.unnamed for one in found),
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


def read_overlap_table(path: Path) -> OverlapTable:
    """Read a table written by `scripts/overlap.py`."""
    return parse(OverlapTable, read_json(path), str(path))

"""Data models of a table: its input recipe and its output.

Scores are fractions (0..1) in records and percentages (0..100) everywhere here, as in the papers.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, TypeVar

from pandas import DataFrame, Series
from pydantic import BaseModel, BeforeValidator, ValidationError

from pubmill.errors import PubmillError
from pubmill.statistics.verdict_models import Aggregate, Equivalence, SeedsNeeded, Shape, Verdict
from pubmill.storage.files import read_json
from pubmill.storage.path_lists import paths_of

NOT_RUN = "not run in this study"
NO_RECORD = "no record"
"""`SeedScore.failed` of a run whose record does not exist."""


AnyShape = TypeVar("AnyShape", bound=BaseModel)


class Drop(Shape):
    """The largest loss in a row: the lowest of the columns `of` minus the column `start`."""

    start: str
    of: tuple[str, ...]


class Column(Shape):
    """A model in a setting; or a column without runs: the best of other columns in each row (`best_of`), a
    `drop` between them, or published values alone.

    `pipeline`: whether the model is a finished pipeline that is not fine-tuned. `published`: its names among
    the published values; in each row, the first name with a value is used.
    """

    key: str
    label: str
    model: str | None = None
    pipeline: bool = False
    published: tuple[str, ...] = ()
    best_of: tuple[str, ...] = ()
    drop: Drop | None = None

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns that this column is computed from."""
        return self.best_of or ((self.drop.start, *self.drop.of) if self.drop else ())


class Row(Shape):
    """A dataset scored with a metric, or a composite, which has no dataset.

    - `published`, `printed`: names of the dataset and the metric among the published values.
    - `conflicts`: contradictory published counts of the dataset, and which of them is used.
    - `folds`: for cross-validation, the datasets whose runs share one cell.
    - `shown`: false for rows that only contribute to a composite.
    - `not_comparable`: why our value must not be compared with the published one.
    """

    key: str
    dataset: str | None = None
    label: str
    group: str = ""
    metric: str
    published: str
    printed: str
    shown: bool = True
    not_comparable: str | None = None
    conflicts: tuple[str, ...] = ()
    folds: tuple[str, ...] = ()


class Composite(Shape):
    """A mean over groups of the mean over each group's rows (gu2020, caption of Table 6)."""

    name: str
    label: str
    groups: dict[str, tuple[str, ...]]

    def mean(self, values: Mapping[str, float]) -> float:
        """The mean over groups of the means of their rows' values."""
        return fmean(fmean(values[name] for name in group) for group in self.groups.values())

    @property
    def row(self) -> Row:
        """The composite's row in the table."""
        metric = "score" if len(self.groups) > 1 else "mean"
        return Row(key=self.name, label=self.label, metric=metric, published=self.name, printed="score")


class Heading(Shape):
    """The heading of any table. `scale_title`: the scale in words. Numbers from a scale that is not
    `comparable` must never be read as the paper's."""

    paper: str
    table: str
    title: str
    caption: str
    citation: str = ""
    notes: tuple[str, ...] = ()
    scale: str
    scale_title: str
    comparable: bool

    @property
    def warning(self) -> str:
        """The warning that every title at this scale must show; empty at the paper's scale."""
        return "" if self.comparable else self.scale_title

    @property
    def heading(self) -> str:
        """The title, with the scale's warning so that small results are not mistaken for full ones."""
        return f"{self.title} ({self.warning})" if self.warning else self.title


class ResultHeading(Heading):
    """The heading of a result table."""

    protocol: str
    setting: str
    aggregate: Aggregate
    equivalence: Equivalence
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


def _all_paths(value: Any) -> Any:
    """Expand paths that a recipe lists by folder to keep the command line short."""
    return tuple(paths_of(value)) if isinstance(value, Mapping) else value


class TableRecipe(ResultHeading):
    """The input of the job that builds a table.

    - `records`: column -> row -> paths of the expected records, below the results folder.
    - `found`: `column/row` of records found on disk, which no job of the study makes.
    - `missing`: column, row or `column/row` -> why there is no value of ours.
    - `left_out`: `column` or `column/metric` of the published file -> why it is not shown.
    """

    composites: tuple[Composite, ...] = ()
    left_out: dict[str, str] = {}
    records: dict[str, dict[str, Annotated[tuple[str, ...], BeforeValidator(_all_paths)]]] = {}
    found: tuple[str, ...] = ()
    missing: dict[str, str] = {}
    versions: dict[str, Any] = {}


class SeedScore(Shape):
    """One run: its score, or why it has none (`failed`). `fold`: its dataset, if the cell has several;
    `record`: path below the results folder; `seconds`: duration of the fine-tuning."""

    seed: int
    value: float | None
    failed: str | None
    fold: str = ""
    record: str = ""
    seconds: float | None = None

    @property
    def name(self) -> str:
        """The run's name within its cell: seed, or fold and seed."""
        return f"{self.fold} {self.seed}".strip()


class PublishedValue(Shape):
    """A value from a paper. `printed`: the text as printed. `recomputed`: for a composite, its value computed
    from the printed parts, if that differs from the printed one."""

    value: float
    printed: str
    note: str
    recomputed: float | None = None


class Cell(Shape):
    """Our value and the published one.

    - `value`: None if any expected part is missing or failed; `missing` then gives the reason.
    - `spread`: sample standard deviation over runs.
    - `n`, `expected`: complete and expected parts: seeds (of each fold, if there are folds), datasets of a
      composite, or columns of a `best_of` or `drop`.
    - `difference`: ours minus published; `verdict`: the conclusion from it; None if either value is missing.
    """

    value: float | None
    spread: float | None
    n: int
    expected: int
    seeds: tuple[SeedScore, ...]
    missing: str | None
    published: PublishedValue | None
    difference: float | None
    verdict: Verdict | None = None


class Provenance(Shape):
    """How the records of a table were made. `runs`, `failed` and `seconds`: number of fine-tuning runs,
    failed runs, and their total duration; `pipelines`: model -> names and versions of finished pipelines."""

    runs: int = 0
    failed: int = 0
    seconds: float = 0.0
    commits: tuple[str, ...] = ()
    packages: dict[str, tuple[str, ...]] = {}
    hardware: tuple[str, ...] = ()
    pipelines: dict[str, tuple[str, ...]] = {}


class Table(ResultHeading):
    """A complete table: `cells[column][row]`, with composites under their own names. `silences`: notes on
    values that the paper leaves blank or that are not shown here; `seeds_needed`: by row, where known."""

    composites: tuple[Row, ...]
    cells: dict[str, dict[str, Cell]]
    silences: tuple[str, ...]
    seeds_needed: dict[str, SeedsNeeded]
    provenance: Provenance

    @property
    def shown_rows(self) -> tuple[Row, ...]:
        """The rows that are displayed, then the composites."""
        return (*(row for row in self.rows if row.shown), *self.composites)

    @property
    def has_runs(self) -> dict[str, bool]:
        """Column -> whether it has any run or value of ours."""
        return {
            c.key: any(cell.seeds or cell.value is not None for cell in self.cells[c.key].values())
            for c in self.columns
        }

    @property
    def all_notes(self) -> tuple[str, ...]:
        """All notes that belong to the numbers: source, rules, notes, conflicting counts."""
        source = (f"Source of the published values: {self.citation}",) if self.citation else ()
        conflicts = tuple(f"{row.label}: {conflict}" for row in self.rows for conflict in row.conflicts)
        labels = {row.key: row.label for row in (*self.rows, *self.composites)}
        rules = (self.equivalence.description(self.aggregate, labels), *self._seeds_note())
        return source + rules + self.notes + printed_notes(self) + self.silences + conflicts

    def _seeds_note(self) -> tuple[str, ...]:
        """The note on `seeds_needed`, or nothing."""
        needs = [(row, self.seeds_needed[row.key]) for row in self.rows if row.key in self.seeds_needed]
        if not needs:
            return ()
        seeds = ", ".join(f"{row.label} {need.seeds} (± {need.spread:.2f})" for row, need in needs)
        rule = self.equivalence
        return (
            "Seeds of each of two models that resolve half a point between them (two-sided t test, "
            f"alpha {rule.alpha:g}, power {rule.power:g}), by the spread within cells of three runs or "
            f"more: {seeds}",
        )

    def cells_of(self, row: Row, columns: Sequence[Column]) -> list[Cell]:
        """The cells of a row in the given columns, in order."""
        return [self.cells[column.key][row.key] for column in columns]

    def blocks(self, most: int) -> list[tuple[Column, ...]]:
        """Split the columns into blocks of about equal width with at most `most` columns each."""
        count = -(-len(self.columns) // most)
        size = -(-len(self.columns) // count)
        return [self.columns[i : i + size] for i in range(0, len(self.columns), size)]

    @property
    def expected_runs(self) -> int:
        """Number of expected fine-tuning runs."""
        return sum(len(cell.seeds) for _, column, cell in self.read() if not column.pipeline)

    def read(self) -> Iterator[tuple[Row, Column, Cell]]:
        """Yield the cells in reading order, including those of hidden rows."""
        for row in (*self.rows, *self.composites):
            for column in self.columns:
                yield row, column, self.cells[column.key][row.key]


TYPOGRAPHY = ("bold", "underlined", "our best")
"""Notes on published values that only describe typography."""


def printed_notes(table: Table) -> tuple[str, ...]:
    """The notes on published values, each once, with the cells that it applies to."""
    found = DataFrame(
        [(c.label, r.label, cell.published.note) for r, c, cell in table.read() if cell.published],
        columns=["column", "row", "note"],
    )
    printed = found.groupby("column").size()
    notes = found.assign(note=found["note"].str.split("; ")).explode("note")
    notes = notes[~notes["note"].isin(["", *TYPOGRAPHY])]
    return tuple(
        f"{_places(of_note, printed)}: {note}" for note, of_note in notes.groupby("note", sort=False)
    )


def _places(found: DataFrame, printed: Series) -> str:
    """Describe the cells of a note by column; a whole column by its label alone."""
    rows = found.groupby("column", sort=False)["row"].agg(list)
    whole = rows.map(len) == printed.reindex(rows.index)
    if len(rows) == len(printed) and whole.all():
        return "All published values"
    return "; ".join(
        label if whole[label] else f"{label}, {', '.join(labels)}" for label, labels in rows.items()
    )


def parse(shape: type[AnyShape], value: Any, where: str) -> AnyShape:
    """Validate parsed JSON against a data model; a `PubmillError` names `where` and every wrong key."""
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        faults = [f"  {'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()]
        raise PubmillError("\n".join([f"{where} is not a {shape.__name__}:", *faults])) from None


def parse_argument(shape: type[AnyShape], text: str) -> AnyShape:
    """Read the `--recipe` argument of a program."""
    try:
        return parse(shape, json.loads(text), "--recipe")
    except json.JSONDecodeError as error:
        raise PubmillError(f"--recipe: not valid JSON: {error.msg} at character {error.pos}") from None


def read_table(path: Path) -> Table:
    """Read a table written by `scripts/table.py`."""
    return parse(Table, read_json(path), str(path))

"""Headings of tables, and recipes of tables of results.

Scores are percentages (0..100) here, as in the papers. `notes`, `citation` and other texts are the spec's.
Headings, columns and rows are also part of the finished tables (`pubmill.tables`).
"""

from collections.abc import Collection, Mapping
from dataclasses import field, fields, replace
from statistics import fmean
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from pubmill.recipes.recipe_types import StrictRecipe

Made = TypeVar("Made")

Aggregate = Literal["mean", "median"]
"""How a cell aggregates its runs."""

NOT_RUN = "not run in this study"
"""Why a cell without records has no value, if nothing else is known."""


class Heading(StrictRecipe):
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


def values_of(heading: type[Any], table: Any) -> dict[str, Any]:
    """Return the fields of a heading, as keyword arguments for another table with this heading."""
    return {one.name: getattr(table, one.name) for one in fields(heading)}


def project(kind: type[Made], source: object, /, **own: Any) -> Made:
    """Return a dataclass with the attributes of `source` that its fields name, except those in `own`."""
    names = [one.name for one in fields(kind) if one.name not in own]  # type: ignore[arg-type]
    shared = {name: getattr(source, name) for name in names if hasattr(source, name)}
    return kind(**shared, **own)


def printed_name(name: str) -> str:
    """Return a table as its paper names it: `Table 6` for table06, `Section 3` for section3."""
    word = name.rstrip("0123456789")
    return f"{word.capitalize()} {int(name.removeprefix(word))}"


def table_title(table: str) -> str:
    """Return a table as a text names it: `gu2020 Table 6` for gu2020/table06."""
    paper, _, name = table.partition("/")
    return f"{paper} {printed_name(name)}"


class ReferencedCell(StrictRecipe):
    """A cell of another table (`PAPER/tableNN`). `linked`: whether the study makes it, so pages may link."""

    table: str
    column: str
    row: str
    linked: bool

    @property
    def title(self) -> str:
        """The table as a text names it: `gu2020 Table 6`."""
        return table_title(self.table)


class PublishedRow(StrictRecipe):
    """A dataset scored with a metric, or a composite, which has no dataset. `published`, `printed`: names of
    the dataset and the metric among the published values."""

    key: str
    dataset: str | None = None
    label: str
    metric: str
    published: str
    printed: str


class Row(PublishedRow):
    """A row of a table.

    - `conflicts`: contradictory published counts of the dataset, and which of them is used.
    - `folds`: for cross-validation, the datasets whose runs share one cell.
    - `shown`: false for rows that only contribute to a composite.
    - `not_comparable`: why our value must not be compared with the published one.
    """

    group: str = ""
    shown: bool = True
    not_comparable: str | None = None
    conflicts: tuple[str, ...] = ()
    folds: tuple[str, ...] = ()


class Drop(StrictRecipe):
    """The largest loss in a row: the lowest of the columns `of` minus the column `start` (tinn2021 Table
    7).

    - `start`: the column subtracted from.
    - `of`: the columns of which the lowest counts.
    """

    start: str
    of: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.of:
            raise ValueError("a drop needs at least one column in `of`")


class PublishedColumn(StrictRecipe):
    """A column. `published`: its names among the published values; in each row, the first name with a value
    is used."""

    key: str
    label: str
    model: str | None = None
    published: tuple[str, ...] = ()

    def printed_metric(self, row: PublishedRow) -> str:
        """Return the metric of a cell among the published values."""
        return row.printed


class Column(PublishedColumn):
    """A model in a setting; or a column without runs: the best of other columns in each row (`best_of`), a
    `drop` between them, or published values alone. `supplied`: whether the model is not
    fine-tuned here."""

    supplied: bool = False
    best_of: tuple[str, ...] = ()
    drop: Drop | None = None

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns that this column is computed from."""
        return self.best_of or ((self.drop.start, *self.drop.of) if self.drop else ())

    def printed_metric(self, row: PublishedRow) -> str:
        """Return the metric of a cell among the published values; that of a drop is `delta`."""
        return "delta" if self.drop else row.printed


class Composite(StrictRecipe):
    """A mean over groups of the mean over each group's rows (gu2020 section 4 and caption of Table 6).

    - `name`: its name among the published values.
    - `label`: its heading.
    - `groups`: rows, by group.
    """

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


class Difference(StrictRecipe):
    """A row of differences. `of`: the row or composite of this table; `minus`: column -> the cell of another
    table that is subtracted; `published`, `printed`: its names among the published values."""

    name: str
    label: str
    of: str
    minus: dict[str, ReferencedCell]
    published: str
    printed: str

    @property
    def row(self) -> Row:
        """The row in the table."""
        return project(Row, self, key=self.name, metric="difference")


class Margin(StrictRecipe):
    """The largest difference from a published score, in points (0..100), that counts as equivalent, and the
    reason for this value.

    - `points`: the difference, in points.
    - `why`: the reason for it.
    """

    points: Annotated[float, Field(gt=0, lt=100)]
    why: str

    def __post_init__(self) -> None:
        if not self.why:
            raise ValueError("a margin needs a reason (`why`)")


class EquivalenceRule(StrictRecipe):
    """The rule for whether a published value is reproduced, fixed before anything is run.

    `alpha`: probability of accepting a difference as large as the margin as equivalent. `power`: power of the
    minimal detectable difference. `margins`: in a protocol by dataset (or the name of its folds), with a
    `default`; in a table by row and composite.
    """

    alpha: Annotated[float, Field(gt=0, lt=0.5)]
    power: Annotated[float, Field(gt=0.5, lt=1)]
    margins: dict[str, Margin]


class Equivalence(EquivalenceRule):
    """The rule for a table's verdicts. `runs`: row -> number of runs behind its published values."""

    runs: dict[str, int]


class Reason(StrictRecipe):
    """Why cells are made as they are. `cells`: `column/row`; whole columns and rows: `column/`, `/row`."""

    text: str
    cells: tuple[str, ...]


class ResultHeading(Heading):
    """The heading of a table of results. `reasons`: shown below it, numbered from 1."""

    protocol: str
    setting: str
    aggregate: Aggregate
    equivalence: Equivalence
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    reasons: tuple[Reason, ...] = ()


class TableRecipe(ResultHeading):
    """The input of the job that builds a table.

    - `records`: column -> row -> paths of the expected records, below the results folder.
    - `found`: `column/row` of records found on disk, which no job of the study makes.
    - `missing`: column, row or `column/row` -> why there is no value of ours.
    - `left_out`: `row` or `row/metric` of the published file -> why it is not shown.
    - `datasets`: `column/row` -> the dataset of its runs, if that is not the row's.
    - `not_comparable`: `column/row` -> why our value must not be compared with the published one.
    - `copied`: `column/row` -> the cell that the paper copied its value from.
    - `own`: the columns of the models that `pubmill table` is asked for; such a table has the requested rows
      only.
    - `others`: table -> the part of its recipe for the cells that `copied` and `differences` refer to.
    """

    composites: tuple[Composite, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    records: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    found: tuple[str, ...] = ()
    missing: dict[str, str] = field(default_factory=dict)
    versions: dict[str, Any] = field(default_factory=dict)
    differences: tuple[Difference, ...] = ()
    datasets: dict[str, str] = field(default_factory=dict)
    not_comparable: dict[str, str] = field(default_factory=dict)
    copied: dict[str, ReferencedCell] = field(default_factory=dict)
    own: tuple[str, ...] = ()
    others: "dict[str, TableRecipe]" = field(default_factory=dict)

    @property
    def all_rows(self) -> tuple[Row, ...]:
        """The rows, then those of composites and differences."""
        composites = (one.row for one in self.composites)
        return (*self.rows, *composites, *(one.row for one in self.differences))

    def restricted(self, columns: Collection[str], rows: Collection[str]) -> "TableRecipe":
        """Return the recipe of a part of the table; `rows` also names composites."""

        def has(key: str) -> bool:
            column, _, row = key.partition("/")
            return (column in columns and row in rows) if row else key in columns or key in rows

        return replace(
            self,
            rows=tuple(one for one in self.rows if one.key in rows),
            columns=tuple(one for one in self.columns if one.key in columns),
            composites=tuple(one for one in self.composites if one.name in rows),
            equivalence=replace(
                self.equivalence,
                margins={key: margin for key, margin in self.equivalence.margins.items() if key in rows},
                runs={key: runs for key, runs in self.equivalence.runs.items() if key in rows},
            ),
            records={
                column: {row: paths for row, paths in of_column.items() if row in rows}
                for column, of_column in self.records.items()
                if column in columns
            },
            found=tuple(filter(has, self.found)),
            missing={key: why for key, why in self.missing.items() if has(key)},
            copied={cell: one for cell, one in self.copied.items() if has(cell)},
        )

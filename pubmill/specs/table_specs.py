"""Specs of result tables."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from pubmill.messages.wording import repeated
from pubmill.metrics import METRICS
from pubmill.recipes.recipe_types import Name
from pubmill.recipes.tables import Composite, Drop, table_title
from pubmill.specs.dataset_specs import DatasetSpec
from pubmill.specs.protocol_specs import ProtocolSpec, SettingName
from pubmill.specs.spec_types import Spec, Strict, Text
from pubmill.storage import name_patterns as names


def _known_metric(name: str) -> str:
    if name not in METRICS:
        raise ValueError(f"there is no metric {name}; there are {', '.join(sorted(METRICS))}")
    return name


Metric = Annotated[str, AfterValidator(_known_metric)]


def _as_tuple(value: Any) -> Any:
    """Return a single name as a list of one."""
    return (value,) if isinstance(value, str) else value


Settings = Annotated[
    tuple[SettingName, ...],
    Field(min_length=1),
    BeforeValidator(_as_tuple, json_schema_input_type=SettingName | tuple[SettingName, ...]),
]
Printed = Annotated[
    tuple[str, ...],
    Field(min_length=1),
    BeforeValidator(_as_tuple, json_schema_input_type=str | tuple[str, ...]),
]


class CellReference(Strict):
    """A cell of another table. `column`, `row`: its keys there; null: the one column of the same model, or
    the one row of the same dataset and metric.

    - `table`: the table, as `gu2020/table06`.
    """

    table: Annotated[str, Field(pattern=f"^{names.SPEC}/{names.SPEC}$")]
    column: Name | None = None
    row: Name | None = None


def _reference(value: Any) -> Any:
    """Return the path of a table (`gu2020/table06`) as a reference to its cell; other text is unchanged."""
    is_path = isinstance(value, str) and names.fits(f"{names.SPEC}/{names.SPEC}", value)
    return {"table": value} if is_path else value


class CellSpec(Strict):
    """A cell that differs from its row, column and table.

    - `protocol`, `setting`, `model`, `dataset`: of its runs; null: those of the row, the column or the table.
    - `copied`: the table that the paper took the published value from; such a cell has no runs.
    - `not_comparable`: why our value must never be compared with the published one.
    - `why`: the reason for all else, such as what in the paper says so.
    """

    protocol: Name | None = None
    setting: Settings | None = None
    model: Name | None = None
    dataset: Name | None = None
    copied: Annotated[CellReference | Text | None, BeforeValidator(_reference)] = None
    not_comparable: Text | None = None
    why: Text | None = None

    def faults(self) -> Iterator[str]:
        own = self.protocol or self.setting or self.model or self.dataset
        if self.copied and (own or self.not_comparable):
            yield "a cell that the paper copied has no runs of its own: keep `copied` and `why` only"
        if not (self.copied or own or self.not_comparable):
            yield "a cell needs `copied`, `not_comparable`, or a `protocol`, `setting`, `model` or `dataset`"
        if (self.copied or own) and not self.why:
            yield "a cell that differs needs `why`, the reason"


_SAME = CellSpec.model_construct()
"""A cell that does not differ."""


class DifferenceSpec(Strict):
    """A row of differences: the cells of a row or composite minus cells of another table.

    - `row`: the row or composite of this table.
    - `minus`: the other table, and its row if that has another name.
    - `columns`: column -> column of the other table; other columns have no difference.
    - `published`, `printed`: its dataset and metric among the published values.
    - `why`: what in the paper says so.
    - `name`: its name in this table.
    - `label`: its heading.
    """

    name: Name
    label: str
    row: Name
    minus: CellReference
    columns: Annotated[dict[Name, Name], Field(min_length=1)]
    published: str
    printed: str
    why: Text


class ColumnSpec(Strict):
    """A model fine-tuned in a setting; or a column without runs: the best of other columns in each row,
    chosen on the score shown (`best_of`); the drop from one column to the worst of others (`drop`); or values
    that the paper takes from elsewhere (`missing` alone).

    - `key`: its name in this table; null: the model's name.
    - `protocol`: null: the table's.
    - `setting`: null: the table's; of several, the first that applies to the row's dataset.
    - `dataset`: of the column's runs, if that is not the rows'.
    - `cells`: row -> its cell, where that differs.
    - `published`: its names among the published values; null: `key`.
    - `model`: the fine-tuned model; null in a column without runs.
    - `label`: its heading.
    - `missing`: why it has no runs.
    - `best_of`: the columns of which the best is shown.
    - `drop`: the columns whose loss is shown.
    """

    key: Name | None = None
    model: Name | None = None
    label: str
    protocol: Name | None = None
    setting: Settings | None = None
    dataset: Name | None = None
    cells: dict[Name, CellSpec] = {}
    published: Printed | None = None
    missing: str | None = None
    best_of: Annotated[tuple[Name, ...], Field(min_length=2)] | None = None
    drop: Drop | None = None

    @property
    def name(self) -> str:
        return self.key or self.model or ""

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns that this column is computed from."""
        return self.best_of or ((self.drop.start, *self.drop.of) if self.drop else ())

    def faults(self) -> Iterator[str]:
        kinds = [k for k in ("model", "best_of", "drop") if getattr(self, k) is not None]
        if len(kinds) > 1 or not (kinds or self.missing):
            yield "a column needs exactly one of `model`, `best_of` and `drop`, or `missing` alone"
        if not self.name:
            yield "a column without a model needs a `key`"
        if self.sources and (self.missing or self.setting):
            yield f"{self.name} is computed from other columns: remove `missing` and `setting`"


class RowSpec(Strict):
    """A dataset scored with a metric.

    - `key`: its name in this table; null: the dataset's name.
    - `metric`: null: the table's, else the dataset's.
    - `protocol`, `setting`: null: those of the column, else of the table.
    - `model`: of the row's runs, if that is not the columns'.
    - `published`, `printed`: dataset and metric among the published values; null: as here, without the
      dataset's variant.
    - `not_comparable`: why our values must never be compared with the published ones.
    - `dataset`: the dataset.
    - `label`: its heading.
    - `group`: rows of a group stand together.
    - `missing`: why it can't be run yet.
    """

    key: Name | None = None
    dataset: Name
    label: str
    group: str
    metric: Metric | None = None
    protocol: Name | None = None
    setting: Settings | None = None
    model: Name | None = None
    published: str | None = None
    printed: str | None = None
    missing: str | None = None
    not_comparable: str | None = None

    @property
    def name(self) -> str:
        return self.key or self.dataset


class TableSpec(Spec):
    """A table of results: models by datasets; each cell aggregates records.

    - `metric`: the metric of every cell; null: each dataset's own.
    - `hidden`: rows that only contribute to composites.
    - `differences`: rows that are differences to cells of other tables.
    - `left_out`: `row` or `row/metric` of the published file -> why it is not shown here.
    - `elsewhere`: paper or table -> dataset, or `any` -> why its published values of the same models differ
      from those of this table.
    - `kind`: `results`.
    - `title`: the title.
    - `caption`: the text below the title.
    - `protocol`: the protocol of all cells that name no other.
    - `setting`: its setting.
    - `columns`: the models.
    - `rows`: the datasets.
    - `composites`: rows that are means of other rows.
    """

    name: Annotated[str, Field(pattern=f"^{names.TABLE}$")]
    kind: Literal["results"]
    paper: Name
    title: str
    caption: str
    protocol: Name
    setting: SettingName
    metric: Metric | None = None
    columns: tuple[ColumnSpec, ...]
    rows: tuple[RowSpec, ...]
    composites: tuple[Composite, ...] = ()
    differences: tuple[DifferenceSpec, ...] = ()
    hidden: tuple[Name, ...] = ()
    left_out: dict[str, str] = {}
    elsewhere: dict[str, dict[str, str]] = {}

    def protocol_of(self, column: ColumnSpec, row: RowSpec) -> str:
        """The protocol of a cell's runs."""
        return column.cells.get(row.name, _SAME).protocol or row.protocol or column.protocol or self.protocol

    def settings_of(self, column: ColumnSpec, row: RowSpec) -> tuple[str, ...]:
        """The settings of a cell's runs; the first that applies to the row's dataset is used."""
        return column.cells.get(row.name, _SAME).setting or row.setting or column.setting or (self.setting,)

    def setting_of(
        self, column: ColumnSpec, row: RowSpec, protocol: ProtocolSpec, data: DatasetSpec
    ) -> str | None:
        """The setting of a cell's runs on a dataset: the first that applies to it."""
        known = (setting for setting in self.settings_of(column, row) if setting in protocol.settings)
        return next((setting for setting in known if protocol.settings[setting].fits(data)), None)

    def protocols(self) -> tuple[str, ...]:
        """The protocols of the table, each once."""
        cells = [cell for column in self.columns for cell in column.cells.values()]
        named = [one.protocol for one in self.columns] + [one.protocol for one in self.rows]
        named += [cell.protocol for cell in cells]
        return tuple(dict.fromkeys([self.protocol, *filter(None, named)]))

    def model_of(self, column: ColumnSpec, row: RowSpec) -> str | None:
        """The model of a cell's runs; None in a column without a model."""
        return (
            (column.cells.get(row.name, _SAME).model or row.model or column.model) if column.model else None
        )

    def dataset_of(self, column: ColumnSpec, row: RowSpec) -> str:
        """The dataset of a cell's runs."""
        return column.cells.get(row.name, _SAME).dataset or column.dataset or row.dataset

    def datasets(self) -> tuple[str, ...]:
        """The datasets of the table, each once: those of rows, then those of single cells and columns."""
        cells = (self.dataset_of(column, row) for column in self.columns for row in self.rows)
        return tuple(dict.fromkeys([*(row.dataset for row in self.rows), *cells]))

    def copied_from(self, column: ColumnSpec, row: RowSpec) -> CellReference | str | None:
        """Where the paper copied a cell from; None for a cell of its own."""
        return column.cells.get(row.name, _SAME).copied

    def origin_title(self, column: ColumnSpec, row: RowSpec) -> str | None:
        """Where the paper copied a cell from, in words (`gu2020 Table 6`); None for a cell of its own."""
        origin = self.copied_from(column, row)
        return table_title(origin.table) if isinstance(origin, CellReference) else origin

    def not_comparable(self, column: ColumnSpec, row: RowSpec) -> str | None:
        """Why our value in a cell must not be compared with the published one, if the spec says so of it."""
        return column.cells.get(row.name, _SAME).not_comparable

    def metric_of(self, row: RowSpec, data: DatasetSpec | None) -> str | None:
        """The metric of a row; None where neither the row, the table nor the dataset specifies one."""
        return row.metric or self.metric or (data.metric if data else None)

    def faults(self) -> Iterator[str]:
        rows = {row.name for row in self.rows}
        all_rows = [one.name for part in (self.rows, self.composites, self.differences) for one in part]
        for what, known in (("rows", all_rows), ("columns", [column.name for column in self.columns])):
            if twice := repeated(known):
                yield f"duplicate {what}: {', '.join(twice)}; give each a different `key`"
        for composite in self.composites:
            if strangers := sorted({name for group in composite.groups.values() for name in group} - rows):
                yield f"composite {composite.name} names unknown rows: {', '.join(strangers)}"
        for column in self.columns:
            if strangers := sorted(set(column.cells) - rows):
                yield f"column {column.name} has cells in unknown rows: {', '.join(strangers)}"
        columns = {column.name for column in self.columns}
        for one in self.differences:
            if one.row not in rows | {composite.name for composite in self.composites}:
                yield f"difference {one.name} names an unknown row: {one.row}"
            if strangers := sorted(set(one.columns) - columns):
                yield f"difference {one.name} names unknown columns: {', '.join(strangers)}"
            if one.minus.column:
                yield f"difference {one.name} has its other columns under `columns`: remove `minus.column`"
        if strangers := sorted(set(self.hidden) - rows):
            yield f"hidden names unknown rows: {', '.join(strangers)}"
        direct = {column.name for column in self.columns if not column.sources}
        for column in self.columns:
            if strangers := [name for name in column.sources if name not in direct]:
                fault = f"{column.name} names {', '.join(strangers)}, not columns with runs"
                yield f"{fault}; those are {', '.join(sorted(direct))}"

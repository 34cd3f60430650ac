"""Specs of result tables."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from pubmill.metrics import METRICS
from pubmill.recipes.tables import Composite, Drop
from pubmill.specs.dataset_specs import DatasetSpec
from pubmill.specs.protocol_specs import ProtocolSpec, SettingName
from pubmill.specs.spec_types import Name, Spec, Strict


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


class CellSpec(Strict):
    """A cell that differs from its row, column and table.

    - `protocol`, `setting`: of its runs; null: those of the row, the column or the table.
    - `copied`: the table that the paper took the published value from; such a cell has no runs.
    - `why`: what in the paper says so.
    """

    protocol: Name | None = None
    setting: Settings | None = None
    copied: str | None = None
    why: Annotated[str, Field(min_length=1)]

    @model_validator(mode="after")
    def is_one_thing(self) -> Self:
        if bool(self.copied) == bool(self.protocol or self.setting):
            raise ValueError("a cell needs either `copied`, or a `protocol` or `setting` of its own")
        return self


class ColumnSpec(Strict):
    """A model fine-tuned in a setting; or a column without runs: the best of other columns in each row,
    chosen on the score shown (`best_of`); the drop from one column to the worst of others (`drop`); or values
    that the paper takes from elsewhere (`missing` alone).

    - `key`: its name in this table; null: the model's name.
    - `protocol`: null: the table's.
    - `setting`: null: the table's; of several, the first that applies to the row's dataset.
    - `cells`: row -> its cell, where that differs.
    - `published`: its names among the published values; null: `key`.
    """

    key: Name | None = None
    model: Name | None = None
    label: str
    protocol: Name | None = None
    setting: Settings | None = None
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

    @model_validator(mode="after")
    def is_one_thing(self) -> Self:
        kinds = [k for k in ("model", "best_of", "drop") if getattr(self, k) is not None]
        if len(kinds) > 1 or not (kinds or self.missing):
            raise ValueError(
                "a column needs exactly one of `model`, `best_of` and `drop`, or `missing` alone"
            )
        if not self.name:
            raise ValueError("a column without a model needs a `key`")
        if self.sources and (self.missing or self.setting):
            raise ValueError(f"{self.name} is computed from other columns: remove `missing` and `setting`")
        return self


class RowSpec(Strict):
    """A dataset scored with a metric.

    - `key`: its name in this table; null: the dataset's name.
    - `metric`: null: the table's, else the dataset's.
    - `protocol`, `setting`: null: those of the column, else of the table.
    - `published`, `printed`: dataset and metric among the published values; null: as here, without the
      dataset's variant.
    - `not_comparable`: why our values must never be compared with the published ones.
    """

    key: Name | None = None
    dataset: Name
    label: str
    group: str
    metric: Metric | None = None
    protocol: Name | None = None
    setting: Settings | None = None
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
    - `left_out`: `column` or `column/metric` of the published file -> why it is not shown here.
    - `elsewhere`: paper or table -> dataset, or `any` -> why its published values of the same models differ
      from those of this table.
    """

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
    hidden: tuple[Name, ...] = ()
    left_out: dict[str, str] = {}
    elsewhere: dict[str, dict[str, str]] = {}

    def protocol_of(self, column: ColumnSpec, row: RowSpec) -> str:
        """The protocol of a cell's runs."""
        cell = column.cells.get(row.name)
        return (cell and cell.protocol) or row.protocol or column.protocol or self.protocol

    def settings_of(self, column: ColumnSpec, row: RowSpec) -> tuple[str, ...]:
        """The settings of a cell's runs; the first that applies to the row's dataset is used."""
        cell = column.cells.get(row.name)
        return (cell and cell.setting) or row.setting or column.setting or (self.setting,)

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

    def copied_from(self, column: ColumnSpec, row: RowSpec) -> str | None:
        """Where the paper copied a cell from; None for a cell of its own."""
        cell = column.cells.get(row.name)
        return cell.copied if cell else None

    def metric_of(self, row: RowSpec, data: DatasetSpec | None) -> str | None:
        """The metric of a row; None where neither the row, the table nor the dataset specifies one."""
        return row.metric or self.metric or (data.metric if data else None)

    @model_validator(mode="after")
    def names_are_its_own(self) -> Self:
        faults = [*self._duplicate_names(), *self._unknown_rows()]
        if faults:
            raise ValueError("; ".join(faults))
        return self

    def _duplicate_names(self) -> Iterator[str]:
        rows = [*(row.name for row in self.rows), *(one.name for one in self.composites)]
        for what, names in (("rows", rows), ("columns", [column.name for column in self.columns])):
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                yield f"duplicate {what}: {', '.join(twice)}; give each a different `key`"

    def _unknown_rows(self) -> Iterator[str]:
        rows = {row.name for row in self.rows}
        for composite in self.composites:
            strangers = sorted({name for group in composite.groups.values() for name in group} - rows)
            if strangers:
                yield f"composite {composite.name} names unknown rows: {', '.join(strangers)}"
        for column in self.columns:
            if strangers := sorted(set(column.cells) - rows):
                yield f"column {column.name} has cells in unknown rows: {', '.join(strangers)}"
        if strangers := sorted(set(self.hidden) - rows):
            yield f"hidden names unknown rows: {', '.join(strangers)}"
        direct = {column.name for column in self.columns if not column.sources}
        for column in self.columns:
            strangers = [name for name in column.sources if name not in direct]
            if strangers:
                yield (
                    f"{column.name} names {', '.join(strangers)}, not columns with runs; "
                    f"those are {', '.join(sorted(direct))}"
                )

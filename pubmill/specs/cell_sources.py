"""The specs behind the cells of a result table."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from pubmill.specs.dataset_specs import DatasetSpec
from pubmill.specs.fidelity import FidelityRow
from pubmill.specs.loading import Specs
from pubmill.specs.model_specs import RecipeWeights
from pubmill.specs.pretraining_checks import needed_before
from pubmill.specs.protocol_specs import Override, ProtocolSpec
from pubmill.specs.table_specs import ColumnSpec, RowSpec, TableSpec


class CellSource(NamedTuple):
    """A cell with runs of its own. `data`: the spec of its dataset or first fold, or None; `setting`: the
    first that applies to the dataset, or None; `overrides`: those that apply to its runs, by name."""

    column: ColumnSpec
    row: RowSpec
    protocol: str
    setting: str | None
    model: str
    data: DatasetSpec | None
    overrides: dict[str, Override]


def cell_sources(table: TableSpec, columns: Sequence[ColumnSpec], specs: Specs) -> Iterator[CellSource]:
    """Yield the cells of some columns that have a model and are not copied, with the specs of their runs."""
    for column in columns:
        for row in table.rows:
            model = table.model_of(column, row)
            if model and not table.copied_from(column, row):
                yield _source(table, column, row, model, specs)


def _source(table: TableSpec, column: ColumnSpec, row: RowSpec, model: str, specs: Specs) -> CellSource:
    name, dataset = table.protocol_of(column, row), table.dataset_of(column, row)
    protocol = specs.protocols[name]
    folds = protocol.folds.get(dataset)
    data = specs.datasets.get(folds.reported[0] if folds else dataset)
    setting = table.setting_of(column, row, protocol, data) if data else None
    overrides = protocol.applied(data, model, setting) if data and setting else {}
    return CellSource(column, row, name, setting, model, data, overrides)


CellName = tuple[str, str, str]
"""Table, and keys of column and row."""


class AffectedCells:
    """Cells of all result tables at a scale, and the search for those that a statement is about."""

    def __init__(self, specs: Specs) -> None:
        self._specs = specs

    @cached_property
    def cells(self) -> dict[CellName, CellSource]:
        """The cells with runs of their own."""
        return {
            (name, cell.column.name, cell.row.name): cell
            for name, table in self._specs.tables.items()
            for cell in cell_sources(table, table.columns, self._specs)
        }

    def of(self, row: FidelityRow) -> list[CellName]:
        """Return the cells that a statement is about."""
        return [name for name, cell in self.cells.items() if self._is_about(row, name[0], cell)]

    def _is_about(self, row: FidelityRow, table: str, cell: CellSource) -> bool:
        statement, data = row.statement, cell.data
        if statement.datasets and (data is None or data.name.partition("@")[0] not in statement.datasets):
            return False
        if statement.kinds and (data is None or data.kind not in statement.kinds):
            return False
        kind, _, name = row.spec.partition("/")
        if kind == "protocols":
            return name == cell.protocol and self._takes(row, cell)
        made = self._pretrainings(cell.model)
        if kind == "choices":
            return (name != "pretraining" or bool(made)) and (name != "finetuning" or self._takes(row, cell))
        return name in {
            "tables": {table},
            "datasets": {data.name} if data else set(),
            "models": {cell.model},
            # statements of an included recipe also hold for its variants
            "pretraining": {part for one in made for part in (one, one.partition("@")[0])},
            "corpora": {self._specs.pretraining[one].corpus for one in made},
            "vocabs": {self._specs.pretraining[one].vocab for one in made},
        }.get(kind, set())

    def _takes(self, row: FidelityRow, cell: CellSource) -> bool:
        """Return whether a cell's runs use a value that a statement is about; True if it is about none."""
        protocol = self._specs.protocols[cell.protocol]
        return not row.keys or any(_takes(protocol, cell, key, row.spec) for key in row.keys)

    def _pretrainings(self, model: str) -> set[str]:
        """Return the recipes behind the weights of a model, if they are not released ones."""
        spec, prefers = self._specs.models.get(model), self._specs.scale.prefer == "released"
        weights = spec.preferred(prefers) if spec else None
        if not isinstance(weights, RecipeWeights) or weights.kind != "pretraining":
            return set()
        return set(self._with_prerequisites(weights.recipe, prefers))

    def _with_prerequisites(self, recipe: str, released: bool) -> Iterator[str]:
        yield recipe
        for one in needed_before(self._specs.pretraining[recipe], self._specs.models, released):
            yield from self._with_prerequisites(one.recipe, released)


def _takes(protocol: ProtocolSpec, cell: CellSource, key: tuple[str, ...], spec: str) -> bool:
    """Return whether a cell's runs use the value of a key of `spec`: their protocol, or recipe defaults."""
    part, *rest = key
    setting = protocol.settings.get(cell.setting or "")
    if part == "settings":
        return not rest or rest[0] == cell.setting
    if part == "overrides":
        return not rest or rest[0] in cell.overrides
    decided = set(setting.values if setting else ()).union(
        *({*one.values, *(one.grid or {})} for one in cell.overrides.values())
    )
    if spec.startswith("choices/"):
        searched = protocol.search.grid if protocol.search else {}
        return part not in {*decided, *protocol.hyperparameters, *searched}
    if part == "search" and len(rest) > 1:
        return rest[1] not in {key for one in cell.overrides.values() for key in one.grid or {}}
    return part != "hyperparameters" or not rest or rest[0] not in decided

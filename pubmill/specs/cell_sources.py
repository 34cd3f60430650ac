"""The specs behind the cells of a result table."""

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import dropwhile
from typing import NamedTuple

from pubmill.recipes.finetuning import keys_in_use
from pubmill.specs.dataset_specs import DatasetSpec
from pubmill.specs.fidelity import FidelityRow
from pubmill.specs.loading import Specs
from pubmill.specs.model_specs import RecipeWeights
from pubmill.specs.pretraining_checks import needed_before
from pubmill.specs.protocol_specs import Override, ProtocolSpec
from pubmill.specs.spec_types import names_one
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
            if not model or table.copied_from(column, row):
                continue
            name, dataset = table.protocol_of(column, row), table.dataset_of(column, row)
            protocol = specs.protocols[name]
            folds = protocol.folds.get(dataset)
            data = specs.datasets.get(folds.reported[0] if folds else dataset)
            setting = table.setting_of(column, row, protocol, data) if data else None
            overrides = protocol.applied(data, model, setting) if data and setting else {}
            yield CellSource(column, row, name, setting, model, data, overrides)


CellName = tuple[str, str, str]
"""Table, and keys of column and row."""


class AffectedCells:
    """Cells of result tables at a scale, and the search for those that a statement is about. `columns`:
    table -> its columns; by default those of the specs, of all tables."""

    def __init__(self, specs: Specs, columns: Mapping[str, Sequence[ColumnSpec]] | None = None) -> None:
        self._specs = specs
        of_specs = {name: table.columns for name, table in specs.tables.items()}
        self._columns = of_specs if columns is None else columns

    @cached_property
    def cells(self) -> dict[CellName, CellSource]:
        """The cells with runs of their own."""
        return {
            (name, cell.column.name, cell.row.name): cell
            for name, columns in self._columns.items()
            for cell in cell_sources(self._specs.tables[name], columns, self._specs)
            if not (cell.column.missing or cell.row.missing)
            and cell.data
            and cell.setting
            and cell.model in self._specs.models
        }

    @cached_property
    def _by_spec(self) -> dict[str, dict[CellName, CellSource]]:
        """Spec (`protocols/blurb`) -> the cells that its values make."""
        by_spec: dict[str, dict[CellName, CellSource]] = {}
        for name, cell in self.cells.items():
            for spec in self._specs_behind(name[0], cell):
                by_spec.setdefault(spec, {})[name] = cell
        return by_spec

    def of(self, row: FidelityRow) -> Set[CellName]:
        """Return the cells that a statement is about: those behind which stands a spec that it holds for,
        among those that it names, whose runs use a value that it is about."""
        found: dict[CellName, CellSource] = {}
        for spec in (row.spec, *row.heirs):
            found |= self._by_spec.get(spec, {})
        return {name: None for name, cell in found.items() if self._is_about(row, cell)}.keys()

    def moved(self, row: FidelityRow) -> set[CellName]:
        """Return those cells that the effect of a statement is known for."""
        effect = row.statement.effect
        data = {name: self.cells[name].data for name in self.of(row)} if effect else {}
        return {name for name, one in data.items() if effect and one and names_one(one.name, effect.datasets)}

    def _is_about(self, row: FidelityRow, cell: CellSource) -> bool:
        statement, data = row.statement, cell.data
        return (
            data is not None
            and names_one(data.name, statement.datasets)
            and names_one(cell.model, statement.models)
            and (statement.kinds is None or data.kind in statement.kinds)
            and (statement.settings is None or cell.setting in statement.settings)
            and (statement.columns is None or cell.column.name in statement.columns)
            and self._takes(row, cell)
        )

    def _specs_behind(self, table: str, cell: CellSource) -> set[str]:
        """Return the specs whose values make a cell, and the choices that hold for its stages."""
        data = cell.data.name if cell.data else ""
        behind = {f"tables/{table}", f"models/{cell.model}", f"datasets/{data}"}
        model, prefers = self._specs.models[cell.model], self._specs.scale.prefer == "released"
        if model.is_fine_tuned:
            behind |= {f"protocols/{cell.protocol}", "choices/finetuning"}
        weights = model.preferred(prefers)
        if isinstance(weights, RecipeWeights) and weights.kind == "pretraining":
            behind.add("choices/pretraining")
            for name in self._with_prerequisites(weights.recipe, prefers):
                spec = self._specs.pretraining[name]
                behind |= {f"pretraining/{name}", f"corpora/{spec.corpus}", f"vocabs/{spec.vocab}"}
        return behind

    def _takes(self, row: FidelityRow, cell: CellSource) -> bool:
        """Return whether a cell's runs use a value that a statement is about, and all that it names."""
        kind, protocol, data = row.spec.partition("/")[0], self._specs.protocols[cell.protocol], cell.data
        if kind not in ("protocols", "choices") or row.spec == "choices/pretraining":
            return True
        assert data is not None, "a cell without data has no runs"
        values = protocol.recipe(data, cell.model, cell.setting or "", trial=False)
        used = {key for key in keys_in_use(values, data.task) if values.get(key)}
        is_default = kind == "choices"
        takes = not row.keys or any(_takes(protocol, cell, data, key, is_default) for key in row.keys)
        return takes and used.issuperset(row.statement.uses)

    def _with_prerequisites(self, recipe: str, released: bool) -> Iterator[str]:
        yield recipe
        for one in needed_before(self._specs.pretraining[recipe], self._specs.models, released):
            yield from self._with_prerequisites(one.recipe, released)


def _takes(
    protocol: ProtocolSpec, cell: CellSource, data: DatasetSpec, key: tuple[str, ...], is_default: bool
) -> bool:
    """Return whether a cell's runs use the value of a key of their protocol, or (`is_default`) of the
    recipe's defaults."""
    part, *rest = key
    setting = cell.setting or ""
    grid = protocol.grid(data, cell.model, setting)
    values = protocol.recipe(data, cell.model, setting, trial=False)
    used = keys_in_use(values, data.task)
    if is_default:
        return part in used - values.keys() - grid.keys()
    if part == "hyperparameters" and rest:
        own = set(protocol.settings[setting].values).union(*map(_decided, cell.overrides.values()))
        kept = protocol.hyperparameters.get(rest[0]) == values.get(rest[0])  # folds keep the last weights
        return rest[0] in used - own - grid.keys() and kept
    if part == "search" and protocol.search and rest[:1] == ["grid"] and rest[1:]:
        return grid.get(rest[1]) == protocol.search.grid.get(rest[1])
    if part == "overrides" and rest and rest[0] in cell.overrides:
        later = [_decided(cell.overrides[name]) for name in dropwhile(rest[0].__ne__, cell.overrides)]
        return not later[0] or bool(later[0] - set(protocol.settings[setting].values).union(*later[1:]))
    return {
        "settings": not rest or rest[0] == setting,
        "overrides": not rest,
        "folds": protocol.fold_of(data.name) is not None,
        "start_from": protocol.start(data.name, setting) is not None,
        "search": protocol.search is None or bool(protocol.points(data, cell.model, setting)),
    }.get(part, True)


def _decided(override: Override) -> set[str]:
    """Return the keys of the recipe that an override gives values or a grid."""
    return {*override.values, *(override.grid or {})}

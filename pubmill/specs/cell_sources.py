"""The specs behind the cells of a result table."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pubmill.specs.dataset_specs import DatasetSpec
from pubmill.specs.loading import Specs
from pubmill.specs.protocol_specs import Override
from pubmill.specs.table_specs import ColumnSpec, RowSpec, TableSpec


class CellSource(NamedTuple):
    """A cell with runs of its own. `data`: its dataset, or the first of its folds; None if it has no spec;
    `setting`: None if none of the table's applies to the dataset; `overrides`: those that apply, by name."""

    column: ColumnSpec
    row: RowSpec
    protocol: str
    setting: str | None
    model: str
    data: DatasetSpec | None
    overrides: dict[str, Override]


def cell_sources(table: TableSpec, columns: Sequence[ColumnSpec], specs: Specs) -> Iterator[CellSource]:
    """Yield the cells of some columns that no paper copied, with what their runs are made of."""
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

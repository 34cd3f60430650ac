"""Cross-checks of tables of results against the other specs, and the cells of other tables that they name."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pubmill.messages.wording import unknown
from pubmill.metrics import METRICS, metrics_of
from pubmill.specs.dataset_specs import DatasetSpec
from pubmill.specs.protocol_specs import ProtocolSpec
from pubmill.specs.strict_yaml import Faults, Location
from pubmill.specs.table_specs import CellReference, ColumnSpec, DifferenceSpec, RowSpec, TableSpec

Made = dict[str, dict[str, Any]]
"""Kind -> name -> spec."""
Tables = Mapping[str, Any]
"""Path -> table of results or of facts."""


def faults_of_results(table: TableSpec, made: Made) -> Faults:
    """Report columns whose name hides a model, cells that cannot be run, and references to missing cells."""
    for i, column in enumerate(table.columns):
        if column.model is None and column.name in made["models"]:
            fault = f"specs/models/{column.name}.yaml exists; give the column another key"
            yield ("columns", i, "key"), fault
    yield from obstacles(table, made)
    yield from faults_of_references(table, made["tables"], made["datasets"])


def obstacles(table: TableSpec, made: Made) -> Faults:
    """Report why cells of a result table cannot be run with its protocol and setting."""
    if any(name not in made["protocols"] for name in table.protocols()):
        return
    protocol, models = made["protocols"][table.protocol], made["models"]
    if table.setting not in protocol.settings:
        yield ("setting",), f"protocol {table.protocol} has no setting {table.setting!r}"
        return
    for i, column in enumerate(table.columns):
        for j, row in enumerate(table.rows):
            name, cell = table.protocol_of(column, row), column.cells.get(row.name)
            own = (("columns", i, "cells", row.name), cell and cell.setting)
            parts = (own, (("rows", j, "setting"), row.setting), (("columns", i, "setting"), column.setting))
            place, named = next(((at, names) for at, names in parts if names), (("setting",), ()))
            if strangers := [one for one in named if one not in made["protocols"][name].settings]:
                yield place, f"protocol {name} has no setting {', '.join(strangers)}"
    columns = [column for column in table.columns if column.model in models]
    for i, row in enumerate(table.rows):
        if row.dataset in made["datasets"]:
            faults = {_cell_obstacle(table, column, row, made) for column in columns}
            yield from ((("rows", i, "dataset"), fault) for fault in sorted(filter(None, faults)))
    yield from _metric_faults(table, protocol, made["datasets"])


def _cell_obstacle(table: TableSpec, column: ColumnSpec, row: RowSpec, made: Made) -> str | None:
    """Return why the runs of a cell cannot be made; None for a cell that the paper copied."""
    protocol: ProtocolSpec = made["protocols"][table.protocol_of(column, row)]
    model, data = table.model_of(column, row), made["datasets"].get(table.dataset_of(column, row))
    if table.copied_from(column, row) or model not in made["models"] or data is None:
        return None
    metric = table.metric_of(row, data)
    needs = METRICS[metric].needs if metric else {}
    if not made["models"][model].is_fine_tuned:
        return f"{metric} needs {_listed(needs)}; {model} is not fine-tuned here" if needs else None
    fitting = table.setting_of(column, row, protocol, data)
    given = table.setting if table.setting in protocol.settings else table.settings_of(column, row)[0]
    setting = fitting or given
    if obstacle := protocol.obstacle(data, model, setting):
        return obstacle
    recipe = protocol.recipe(data, model, setting, trial=False)
    values = {key: recipe.get(key) for key in needs}
    run = f"protocol {protocol.name}, setting {setting}"
    return None if values == needs else f"{metric} needs {_listed(needs)}; {run} has {_listed(values)}"


def _listed(values: Mapping[str, object]) -> str:
    return ", ".join(f"{key}: {value}" for key, value in values.items())


def _metric_faults(table: TableSpec, protocol: ProtocolSpec, datasets: dict[str, DatasetSpec]) -> Faults:
    """Report rows without a metric, or whose metric does not fit their datasets, folds or single cells."""
    for i, row in enumerate(table.rows):
        folds = protocol.folds.get(row.dataset)
        own = dict.fromkeys(folds.reported if folds else (row.dataset,), row.dataset)
        cells = (table.dataset_of(column, row) for column in table.columns)
        named = own | {name: name for name in cells if name != row.dataset}
        parts = {name: datasets[name] for name in named if name in datasets}
        metric = table.metric_of(row, next(iter(parts.values()), None))
        if metric is None and row.missing:  # else the lack of its spec is the mistake
            yield ("rows", i), f"{row.name} has no dataset spec, so it needs a `metric`"
        for shown, kind, task in sorted({(named[name], one.kind, one.task) for name, one in parts.items()}):
            known = [one.name for one in metrics_of(kind, task)]
            if metric not in known:
                fault = f"{shown} ({kind}, {task}) has no {metric}, the metric of the table"
                yield ("rows", i, "dataset"), f"{fault}; it has {', '.join(known)}"


def copied_cell(
    table: TableSpec, column: ColumnSpec, row: RowSpec, tables: Tables, datasets: Mapping[str, DatasetSpec]
) -> CellReference | None:
    """Return the cell that a cell was copied from, with its column and row; None if no spec describes it.

    Raises: ValueError if there is no such cell, or several.
    """
    origin = table.copied_from(column, row)
    if not isinstance(origin, CellReference):
        return None
    other = _table(origin.table, tables)
    data = datasets.get(row.dataset)
    metric = table.metric_of(row, data)
    columns = [one.name for one in other.columns if one.model and one.model == column.model]
    rows = [one for one in other.rows if one.dataset == row.dataset]
    if len(rows) > 1:
        rows = [one for one in rows if other.metric_of(one, data) == metric]
    named_column = _one("column", origin.column, columns, [one.name for one in other.columns])
    named_row = _one("row", origin.row, [one.name for one in rows], [one.name for one in other.rows])
    return _first_hand(origin.table, other, named_column, named_row)


def subtracted_cell(difference: DifferenceSpec, column: str, tables: Tables) -> CellReference:
    """Return the cell that a difference subtracts in a column.

    Raises: ValueError if there is no such cell.
    """
    other, row = _table(difference.minus.table, tables), difference.minus.row or difference.row
    rows = [*(one.name for one in other.rows), *(one.name for one in other.composites)]
    named = _one("column", difference.columns[column], (), [one.name for one in other.columns])
    return _first_hand(difference.minus.table, other, named, _one("row", row, (), rows))


def _table(name: str, tables: Tables) -> TableSpec:
    results = {known: table for known, table in tables.items() if isinstance(table, TableSpec)}
    if name not in results:
        raise ValueError(unknown("table of results", name, results))
    return results[name]


def _one(what: str, named: str | None, fitting: Sequence[str], known: Sequence[str]) -> str:
    """Return the named column or row, or else the only fitting one."""
    if named is None and len(fitting) == 1:
        return fitting[0]
    if named is None:
        fault = f"several fit: {', '.join(fitting)}" if fitting else f"none fits of {', '.join(known)}"
        raise ValueError(f"give the `{what}` of that table; {fault}")
    if named not in known:
        raise ValueError(unknown(f"{what} of that table", named, known))
    return named


def _first_hand(name: str, table: TableSpec, column: str, row: str) -> CellReference:
    """Return a cell of a table; a `ValueError` if that copied it from a further one."""
    cells = ((one, other) for one in table.columns for other in table.rows)
    if any((one.name, other.name) == (column, row) and table.copied_from(one, other) for one, other in cells):
        raise ValueError(f"{name} copied {column}/{row} itself; name the table it is from")
    return CellReference(table=name, column=column, row=row)


def faults_of_references(table: TableSpec, tables: Tables, datasets: Mapping[str, DatasetSpec]) -> Faults:
    """Report references to cells that do not exist."""
    rows = {row.name: row for row in table.rows}
    for i, column in enumerate(table.columns):
        for name, cell in column.cells.items():
            place: Location = ("columns", i, "cells", name)
            if isinstance(cell.copied, str) and (words := re.match(r"(\S+) Table (\d+)", cell.copied)):
                path = f"{words[1]}/table{int(words[2]):02d}"
                if path in tables:
                    yield place, f"write {path} for {cell.copied!r}, so that the cell shows the verdict there"
            try:
                copied_cell(table, column, rows[name], tables, datasets)
            except ValueError as error:
                yield place, str(error)
    for i, difference in enumerate(table.differences):
        for name in difference.columns:
            try:
                subtracted_cell(difference, name, tables)
            except ValueError as error:
                yield ("differences", i), str(error)

"""Cells of result tables that refer to cells of other tables: copied values and differences."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pubmill.messages.wording import unknown
from pubmill.specs.dataset_specs import DatasetSpec
from pubmill.specs.table_specs import CellReference, ColumnSpec, DifferenceSpec, RowSpec, TableSpec

Place = tuple[str | int, ...]


def copied_cell(
    table: TableSpec,
    column: ColumnSpec,
    row: RowSpec,
    tables: Mapping[str, Any],
    datasets: Mapping[str, DatasetSpec],
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
    cell = CellReference(
        table=origin.table,
        column=_one("column", origin.column, columns, [one.name for one in other.columns]),
        row=_one("row", origin.row, [one.name for one in rows], [one.name for one in other.rows]),
    )
    _refuse_second_hand(other, cell)
    return cell


def subtracted_cell(difference: DifferenceSpec, column: str, tables: Mapping[str, Any]) -> CellReference:
    """Return the cell that a difference subtracts in a column.

    Raises: ValueError if there is no such cell.
    """
    other, row = _table(difference.minus.table, tables), difference.minus.row or difference.row
    rows = [*(one.name for one in other.rows), *(one.name for one in other.composites)]
    cell = CellReference(
        table=difference.minus.table,
        column=_one("column", difference.columns[column], (), [one.name for one in other.columns]),
        row=_one("row", row, (), rows),
    )
    _refuse_second_hand(other, cell)
    return cell


def _table(name: str, tables: Mapping[str, Any]) -> TableSpec:
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


def _refuse_second_hand(other: TableSpec, cell: CellReference) -> None:
    """Refuse a cell that refers to a further table."""
    column = next(one for one in other.columns if one.name == cell.column)
    row = next((one for one in other.rows if one.name == cell.row), None)
    if row and other.copied_from(column, row):
        raise ValueError(f"{cell.table} copied {cell.column}/{cell.row} itself; name the table it is from")


def faults_of_references(
    table: Any, tables: Mapping[str, Any], datasets: Mapping[str, DatasetSpec]
) -> Iterator[tuple[Place, str]]:
    """Report references to cells that do not exist."""
    if not isinstance(table, TableSpec):
        return
    rows = {row.name: row for row in table.rows}
    for i, column in enumerate(table.columns):
        for name, cell in column.cells.items():
            place: Place = ("columns", i, "cells", name)
            if isinstance(cell.copied, str) and (path := _path_in_words(cell.copied, tables)):
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


def _path_in_words(text: str, tables: Mapping[str, Any]) -> str | None:
    """Return the path of the table that a text such as `gu2020 Table 6` names, if it is a spec."""
    named = re.match(r"(\S+) Table (\d+)", text)
    path = f"{named[1]}/table{int(named[2]):02d}" if named else None
    return path if path in tables else None


def specs_of_cells(table: TableSpec) -> Iterator[tuple[Place, str, str, bool]]:
    """Yield the models, and the datasets other than those of rows, that the cells of a table name."""
    for i, column in enumerate(table.columns):
        if column.model is not None:
            yield ("columns", i, "model"), "models", column.model, bool(column.missing)
        if column.dataset is not None:
            yield ("columns", i, "dataset"), "datasets", column.dataset, False
        for row, cell in column.cells.items():
            for key, kind in (("model", "models"), ("dataset", "datasets")):
                if (target := getattr(cell, key)) is not None:
                    yield ("columns", i, "cells", row, key), kind, target, False
    for i, one in enumerate(table.rows):
        if one.model is not None:
            yield ("rows", i, "model"), "models", one.model, False

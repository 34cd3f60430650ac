"""The parts of a table's cell that a manuscript can show, as numbers and as text for LaTeX."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from pubmill.errors import PubmillError
from pubmill.messages.wording import unknown
from pubmill.recipes.tables import Column, Row
from pubmill.report.latex_escaping import escape_tex
from pubmill.report.rendering import number, printed, signed
from pubmill.tables.cells import Cell, Table

NONE = r"\cellnone{}"
"""The macro that stands in the place of a part that a cell does not have."""

Tables = Mapping[str, Table]
"""Name of a table (`gu2020/table06`) -> the finished table."""


class CellKey(NamedTuple):
    """The names of a cell, as a macro takes them: table, row, column."""

    table: str
    row: str
    column: str

    def __str__(self) -> str:
        return "{" + "}{".join(self) + "}"


class CellPart(NamedTuple):
    """A part of a cell. `name`: in a message; `of`: its number, if it has one; `text`: as LaTeX."""

    name: str
    of: Callable[[Cell], float | None]
    text: Callable[[Cell], str]


def _published(cell: Cell) -> float | None:
    return None if cell.published is None else cell.published.value


def _text(show: Callable[[float], str], of: Callable[[Cell], float | None]) -> Callable[[Cell], str]:
    """Return a function that formats one number of a cell, or returns `NONE` if the cell lacks it."""

    def shown(cell: Cell) -> str:
        value = of(cell)
        return NONE if value is None else latex(show(value))

    return shown


def latex(text: str) -> str:
    """Escape text for the macros' file, with a minus sign that also works in formulas."""
    return escape_tex(text).replace(r"\ensuremath{-}", r"\cellminus{}")


def _published_text(cell: Cell) -> str:
    return latex(printed(cell.published.printed)) if cell.published else NONE


def _verdict_text(cell: Cell) -> str:
    return latex(cell.verdict.verdict) if cell.verdict else NONE


def _exact(value: float) -> str:
    return f"{value:.6f}"


PARTS = {
    "cell": CellPart("value", lambda cell: cell.value, _text(number, lambda cell: cell.value)),
    "cellspread": CellPart("spread", lambda cell: cell.spread, _text(number, lambda cell: cell.spread)),
    "cellpublished": CellPart("published value", _published, _published_text),
    "celldiff": CellPart(
        "difference", lambda cell: cell.difference, _text(signed, lambda cell: cell.difference)
    ),
    "cellverdict": CellPart("verdict", lambda cell: None, _verdict_text),
    "cellexact": CellPart("value", lambda cell: cell.value, _text(_exact, lambda cell: cell.value)),
}
"""Macro -> the part that it gives; `cellexact` is the value with six decimals, for other packages."""


def all_cells(tables: Tables) -> Iterator[tuple[CellKey, Cell]]:
    """Yield the cells of tables, in reading order."""
    for name, table in tables.items():
        for row, column, cell in table.read():
            yield CellKey(name, row.key, column.key), cell


def cell_of(tables: Tables, key: CellKey) -> Cell:
    """Return a cell; a `PubmillError` names the key that is unknown and the nearest ones."""
    if key.table not in tables:
        raise PubmillError(unknown("table", key.table, tables))
    table = tables[key.table]
    return table.cells[column_of(table, key.column).key][row_of(table, key.row).key]


def row_of(table: Table, name: str) -> Row:
    """Return a row by its key; a `PubmillError` for an unknown one."""
    rows = {row.key: row for row in (*table.rows, *table.composites)}
    if name not in rows:
        raise PubmillError(f"{table.paper}/{table.table}: {unknown('row', name, rows)}")
    return rows[name]


def column_of(table: Table, name: str) -> Column:
    """Return a column by its key; a `PubmillError` for an unknown one."""
    columns = {column.key: column for column in table.columns}
    if name not in columns:
        raise PubmillError(f"{table.paper}/{table.table}: {unknown('column', name, columns)}")
    return columns[name]

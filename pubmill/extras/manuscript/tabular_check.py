"""Compare the marked tabulars of a manuscript with the tables: numbers, spreads and bold type."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pubmill.errors import PubmillError
from pubmill.extras.manuscript.cell_texts import PARTS, CellKey, Tables, cell_of, row_of
from pubmill.extras.manuscript.findings import ManuscriptFault
from pubmill.extras.manuscript.latex_source import Source
from pubmill.extras.manuscript.marks import Mark, marks_of
from pubmill.extras.manuscript.printed_numbers import RIGHT, ROUNDING, PrintedNumber
from pubmill.extras.manuscript.tabular_rows import TabularCell, bold_macros, cells, row_before
from pubmill.tables.cells import Cell, Table

SKIPPED = "-"
_PARTS = {"value": "cell", "spread": "cellspread", "published": "cellpublished", "difference": "celldiff"}
"""Name of a part in a mark -> its macro."""


class MarkedCell(NamedTuple):
    """A cell of a tabular and the cell of the table that its marks name; `part`: the macro of its part."""

    key: CellKey
    part: str
    printed: TabularCell
    cell: Cell


def check_tabulars(source: Source, tables: Tables) -> Iterator[ManuscriptFault]:
    """Yield the findings in the marked tabulars of a file."""
    bold = bold_macros(source.code)
    table, across, together = "", Mark(0, "", ""), list[MarkedCell]()
    for mark in marks_of(source):
        if mark.kind in ("table", "columns", "rows"):
            yield from _bold_findings(source, tables, together)
            together = []
        if mark.kind == "table":
            table, across = mark.names.split(",")[0].strip(), Mark(0, "", "")
            if table not in tables:
                yield _unknown(source, mark, f"table {table}", "pubmill: table NAME of a table of this study")
        elif mark.kind in ("columns", "rows"):
            across = mark
        elif mark.kind in ("row", "column"):
            try:
                marked = _marked_cells(source, tables, table, across, mark, bold)
            except PubmillError as error:
                yield _unknown(source, mark, str(error), "correct the mark, or export the tabular again")
                continue
            together += marked
            yield from _number_findings(source, marked)
    yield from _bold_findings(source, tables, together)


def _unknown(source: Source, mark: Mark, found: str, to_do: str) -> ManuscriptFault:
    return ManuscriptFault(
        *source.place(mark.start), "unknown", found, "the mark names no such thing", f"Write {to_do}"
    )


def _marked_cells(
    source: Source, tables: Tables, table: str, across: Mark, mark: Mark, bold: frozenset[str]
) -> list[MarkedCell]:
    """Return the cells of a row of a tabular; a `PubmillError` if its marks do not fit."""
    start, end = row_before(source.code, mark.start)
    _, *printed = cells(source.code, start, end, bold)
    names = across.names.replace(",", " ").split()
    if not table or not names:
        raise PubmillError(f"{mark.kind} {mark.names} follows no mark of a table and its columns or rows")
    if len(printed) != len(names):
        raise PubmillError(
            f"{mark.kind} {mark.names} has {len(printed)} cells after the first, but there are {len(names)} "
            f"{across.kind}"
        )
    marked = []
    for name, one in zip(names, printed, strict=True):
        if name != SKIPPED:
            other, _, part = name.partition(":")
            row, column = (mark.names, other) if mark.kind == "row" else (other, mark.names)
            if part and part not in _PARTS:
                raise PubmillError(f"{name}: the part {part} is none of {', '.join(_PARTS)}")
            key = CellKey(table, row, column)
            marked.append(MarkedCell(key, _PARTS[part or "value"], one, cell_of(tables, key)))
    return marked


def _number_findings(source: Source, marked: Sequence[MarkedCell]) -> Iterator[ManuscriptFault]:
    for one in marked:
        if one.printed.macro:
            continue
        exact = PARTS[one.part].of(one.cell)
        if one.printed.number is None or exact is None:
            yield from _gap_findings(source, one, exact)
            continue
        yield from number_findings(source, one.printed.number, exact, one.key, one.part)
        if one.printed.spread and one.part == "cell":
            spread = one.cell.spread
            if spread is None:
                yield _absent(source, one.printed.spread, one.key, "cellspread", one.cell)
            else:
                yield from number_findings(source, one.printed.spread, spread, one.key, "cellspread")


def _gap_findings(source: Source, one: MarkedCell, exact: float | None) -> Iterator[ManuscriptFault]:
    """Yield a finding if only one of the tabular and the table has a number."""
    if one.printed.number is not None:
        yield _absent(source, one.printed.number, one.key, one.part, one.cell)
    elif exact is not None:
        yield ManuscriptFault(
            *source.place(one.printed.start),
            "stale",
            "no number stands here",
            f"the {PARTS[one.part].name} of {one.key} is {exact:.2f}",
            f"Write {exact:.2f}",
        )


def _absent(source: Source, number: PrintedNumber, key: CellKey, part: str, cell: Cell) -> ManuscriptFault:
    why = f" ({cell.missing})" if cell.missing else ""
    return ManuscriptFault(
        *source.place(number.start),
        "empty",
        f"{number.text} stands here",
        f"{key} has no {PARTS[part].name}{why}",
        "Write a dash, or make the run",
    )


def number_findings(
    source: Source, number: PrintedNumber, exact: float, key: CellKey, part: str
) -> Iterator[ManuscriptFault]:
    """Yield a finding if a number is not the exact value at its precision."""
    judged = number.against(exact)
    if judged == RIGHT:
        return
    right = number.rounded(exact)
    yield ManuscriptFault(
        *source.place(number.start),
        "rounding" if judged == ROUNDING else "stale",
        f"{number.text} stands here",
        f"the {PARTS[part].name} of {key} is {right} (exactly {exact:.6f})",
        rf"Write {right} or \{part}{key}",
    )


def _bold_findings(source: Source, tables: Tables, marked: Sequence[MarkedCell]) -> Iterator[ManuscriptFault]:
    """Yield findings on bold type, if the tabular uses it at all."""
    values = [one for one in marked if one.part == "cell" and not one.printed.blank]
    if not any(one.printed.bold for one in values):
        return
    for row in dict.fromkeys(one.key.row for one in values):
        of_row = [one for one in values if one.key.row == row]
        yield from _row_bold_findings(source, tables[of_row[0].key.table], row, of_row)


def _row_bold_findings(
    source: Source, table: Table, row: str, cells: list[MarkedCell]
) -> Iterator[ManuscriptFault]:
    decimals = min([one.printed.number.decimals for one in cells if one.printed.number], default=2)
    best = table.best_columns(row_of(table, row), [one.key.column for one in cells], decimals)
    if not best:
        return
    computed = {column.key for column in table.columns if column.sources}
    for one in cells:
        if one.printed.bold and one.key.column not in best | computed:
            yield _bold_finding(source, one, "is in bold", best, table, "Remove the bold")
    if not any(one.printed.bold and one.key.column in best for one in cells):
        for one in cells:
            if one.key.column in best:
                yield _bold_finding(source, one, "is not in bold", best, table, r"Write it in \textbf")


def _bold_finding(
    source: Source, one: MarkedCell, state: str, best: set[str], table: Table, to_do: str
) -> ManuscriptFault:
    labels = ", ".join(column.label for column in table.columns if column.key in best)
    values = ", ".join(sorted(f"{table.cells[column][one.key.row].value:.2f}" for column in best))
    shown = one.printed.number.text if one.printed.number else str(one.key)
    start = one.printed.number.start if one.printed.number else one.printed.start
    return ManuscriptFault(
        *source.place(start), "bold", f"{shown} {state}", f"the best here is {labels} ({values})", to_do
    )

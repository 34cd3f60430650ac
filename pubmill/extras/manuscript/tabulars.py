"""A table of results as a tabular for a manuscript: our values, the best of each row in bold, with marks by
which `pubmill check` finds the cell behind each number."""

from collections.abc import Sequence

from pubmill.extras.manuscript.marks import mark
from pubmill.recipes.tables import Column, Row
from pubmill.report.latex_escaping import escape_tex
from pubmill.report.rendering import groups, number
from pubmill.tables.cells import Table


def tabular(name: str, table: Table) -> str | None:
    """Return a tabular with all columns that have a value of ours; None if none has. It needs booktabs."""
    columns = [column for column in table.columns if _has_value(table, column)]
    if not columns:
        return None
    heading = " & ".join(["", *(escape_tex(column.label) for column in columns)])
    lines = [
        mark("table", name) + f", {table.scale} scale; needs booktabs",
        rf"\begin{{tabular}}{{@{{}}l{'r' * len(columns)}@{{}}}}",
        r"\toprule",
        rf"{heading} \\ {mark('columns', *(column.key for column in columns))}",
    ]
    for group in groups(table.shown_rows):
        lines += [r"\midrule", *(_line(table, row, columns) for row in group)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _has_value(table: Table, column: Column) -> bool:
    return any(table.cells[column.key][row.key].value is not None for row in table.shown_rows)


def _line(table: Table, row: Row, columns: list[Column]) -> str:
    best = best_columns(table, row, [column.key for column in columns])
    texts = [_text(table.cells[column.key][row.key].value, column.key in best) for column in columns]
    return rf"{' & '.join([escape_tex(row.label), *texts])} \\ {mark('row', row.key)}"


def _text(value: float | None, is_best: bool) -> str:
    if value is None:
        return "---"
    text = escape_tex(number(value))
    return rf"\textbf{{{text}}}" if is_best else text


def best_columns(table: Table, row: Row, columns: Sequence[str], decimals: int = 2) -> set[str]:
    """Return the columns that print the highest value of a row, among these and with so many decimals.

    There are none if fewer than two have a value, or if the row has differences. Columns computed from others
    do not compete.
    """
    if row.metric == "difference":
        return set()
    competing = {column.key for column in table.columns if not column.sources} & set(columns)
    cells = {column: table.cells[column][row.key].value for column in competing}
    values = {column: round(value, decimals) for column, value in cells.items() if value is not None}
    highest = max(values.values(), default=0.0)
    return {column for column, value in values.items() if value == highest} if len(values) > 1 else set()

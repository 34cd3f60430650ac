"""A table of datasets as JSON, CSV, Markdown, LaTeX and HTML, in the look of the tables of results."""

from collections.abc import Callable
from typing import Any

from pubmill.tables.dataset_tables import DatasetCell, DatasetColumn, DatasetRow, DatasetTable
from pubmill.tables.rendering import (
    csv_text,
    environment,
    escape_markdown,
    escape_tex,
    exact,
    marks,
    to_json,
)


def dataset_marks(table: DatasetTable) -> dict[str, str]:
    """Every distinct reason for a missing or differing value -> its mark, in reading order."""
    return marks(cell.reason for _, _, cell in table.read())


def to_csv(table: DatasetTable) -> str:
    """One line a cell; booleans are 1 and 0, as in the published values."""
    return csv_text([_csv_line(table, row, column, cell) for row, column, cell in table.read()])


def _csv_line(
    table: DatasetTable, row: DatasetRow, column: DatasetColumn, cell: DatasetCell
) -> dict[str, Any]:
    return {
        "paper": table.paper,
        "table": table.table,
        "scale": table.scale,
        "dataset": row.dataset,
        "column": column.key,
        "kind": cell.kind,
        "measure": row.measure if cell.kind == "count" else None,
        "value": exact(cell.value) if isinstance(cell.value, float) else _plain(cell.value),
        "published": cell.published,
        "published_note": cell.note,
        "equal": _plain(cell.equal),
        "reason": cell.reason,
    }


def _plain(value: bool | int | float | str | None) -> int | float | str | None:
    return int(value) if isinstance(value, bool) else value


def to_markdown(table: DatasetTable) -> str:
    """A pipe table for GitHub."""
    template = environment(escape_markdown).get_template("dataset_table.md.j2")
    return template.render(table=table, marks=dataset_marks(table))


def to_latex(table: DatasetTable) -> str:
    """A document that compiles by itself (needs booktabs and longtable)."""
    template = environment(escape_tex).get_template("dataset_table.tex.j2")
    return template.render(table=table, marks=dataset_marks(table))


def to_html(table: DatasetTable) -> str:
    """A page of its own, without scripts and without anything from elsewhere."""
    template = environment().get_template("dataset_table.html.j2")
    return template.render(table=table, marks=dataset_marks(table))


FORMS: dict[str, Callable[[DatasetTable], str]] = {
    "json": to_json,
    "csv": to_csv,
    "md": to_markdown,
    "tex": to_latex,
    "html": to_html,
}

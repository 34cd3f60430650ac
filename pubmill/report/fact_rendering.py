"""Render a fact table as JSON, CSV, Markdown, LaTeX and HTML, in the style of result tables."""

from collections.abc import Callable

from pubmill.report.latex_escaping import escape_tex
from pubmill.report.rendering import (
    csv_text,
    environment,
    escape_markdown,
    marks,
    to_json,
)
from pubmill.tables.fact_table_models import FactTable
from pubmill.tables.table_frames import fact_frame


def fact_marks(table: FactTable) -> dict[str, str]:
    """Map every distinct reason for a missing or differing value to its mark, in reading order."""
    return marks(table.reasons)


def to_csv(table: FactTable) -> str:
    """Render one CSV line per cell; booleans are 1 and 0, as in the published values."""
    return csv_text(fact_frame(table))


def to_markdown(table: FactTable) -> str:
    """Render a pipe table for GitHub."""
    template = environment(escape_markdown).get_template("fact_table.md.j2")
    return template.render(table=table, marks=fact_marks(table))


def to_latex(table: FactTable) -> str:
    """Render a complete LaTeX document (needs booktabs and longtable)."""
    template = environment(escape_tex).get_template("fact_table.tex.j2")
    return template.render(table=table, marks=fact_marks(table))


def to_html(table: FactTable) -> str:
    """Render a self-contained page without scripts."""
    template = environment().get_template("fact_table.html.j2")
    return template.render(table=table, marks=fact_marks(table))


FORMS: dict[str, Callable[[FactTable], str]] = {
    "json": to_json,
    "csv": to_csv,
    "md": to_markdown,
    "tex": to_latex,
    "html": to_html,
}

"""Renderers of result tables, fact tables and comparisons of models; all text in them is escaped."""

from pubmill.report.latex_tables import latex_table
from pubmill.report.rendering import marks, renderers
from pubmill.storage.result_paths import PAGE_FORMATS, TABLE_FORMATS
from pubmill.tables.answer_costs import column_costs
from pubmill.tables.cells import Table
from pubmill.tables.fact_table_models import FactTable
from pubmill.tables.table_frames import cell_frame, fact_frame


def reasons(table: Table) -> dict[str, str]:
    """Map every distinct reason for a missing value, here or in a cell that is referred to, to its mark."""
    cells = [cell for *_, cell in table.read()]
    others = [cell.copied_from.cell for cell in cells if cell.copied_from]
    return marks(cell.missing for cell in (*cells, *others))


def links(table: Table) -> dict[str, str]:
    """Return the pages of other tables that a table's own page links to: table -> relative address."""
    others = (cell.other for *_, cell in table.read() if cell.other)
    return {other.table: f"../{other.table}.html" for other in others if other.linked}


def fact_marks(table: FactTable) -> dict[str, str]:
    """Map every distinct reason for a missing or differing value to its mark, in reading order."""
    return marks(table.reasons)


def _table_values(table: Table) -> dict[str, object]:
    return {"table": table, "reasons": reasons(table), "links": links(table), "costs": column_costs(table)}


def _fact_values(table: FactTable) -> dict[str, object]:
    return {"table": table, "marks": fact_marks(table)}


TABLE_RENDERERS = renderers("table", TABLE_FORMATS, _table_values, cell_frame) | {"tex": latex_table}
FACT_TABLE_RENDERERS = renderers("fact_table", TABLE_FORMATS, _fact_values, fact_frame)
COMPARISON_RENDERERS = renderers("comparisons", PAGE_FORMATS, lambda of: {"comparisons": of})
"""Format -> function that renders it."""

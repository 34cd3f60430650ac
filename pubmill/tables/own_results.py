"""Results of one's own models in a table, each against the highest published value of its row, in words."""

from pubmill.metrics import METRICS
from pubmill.recipes.tables import Column, Row, TableRecipe
from pubmill.statistics.equivalence import difference_interval
from pubmill.tables.cells import Cell, Table
from pubmill.tables.verdicts import Cells, incomparable, uncertainty_of


def own_results(recipe: TableRecipe, table: Table) -> tuple[str, ...]:
    """Return one line for each column of `recipe.own` and each shown row; `table`: made from the recipe."""
    columns = [column for column in table.columns if column.key in recipe.own]
    return tuple(
        f"{column.label} on {_name(row)}: {_result(recipe, table, column, row)}"
        for column in columns
        for row in table.shown_rows
    )


def own_lines(table: Table, own: int) -> tuple[str, ...]:
    """Return these lines of a finished table with `own` columns of one's own: its notes begin with them."""
    return table.notes[: own * len(table.shown_rows)]


def _name(row: Row) -> str:
    return f"{row.label} ({METRICS[row.metric].label})" if row.metric in METRICS else row.label


def _result(recipe: TableRecipe, table: Table, column: Column, row: Row) -> str:
    cell = table.cells[column.key][row.key]
    if cell.value is None:
        return f"no score ({cell.missing})"
    spread = "" if cell.spread is None else f" ± {cell.spread:.2f}"
    parts = "seeds" if row.dataset else "parts"
    found = f"{cell.value:.2f}{spread} ({cell.n} of {cell.expected} {parts})"
    published = [(c, p) for c in table.columns if (p := table.cells[c.key][row.key].published)]
    if not published:
        return f"{found}; no published value"
    best, value = max(published, key=lambda pair: pair[1].value)
    against = f"{found}; highest published: {value.printed} ({best.label})"
    if reason := incomparable(recipe, column.key, row.key) or incomparable(recipe, best.key, row.key):
        return f"{against}, not compared: {reason}"
    return f"{against}; {_test(recipe, table.cells, cell, column, row, value.value)}"


def _test(recipe: TableRecipe, cells: Cells, cell: Cell, column: Column, row: Row, published: float) -> str:
    difference = (cell.value or 0.0) - published
    known = None if row.metric == "difference" else uncertainty_of(recipe, row.key, cells[column.key])
    if known is None or not known.error:
        return f"difference {difference:+.2f}, untested without a spread over seeds"
    alpha = recipe.equivalence.alpha
    low, high = difference_interval(difference, known, alpha / 2)
    verdict = "higher" if low > 0 else "lower" if high < 0 else "neither higher nor lower"
    return (
        f"difference {difference:+.2f}, {100 * (1 - alpha):g} % interval {low:+.2f} to {high:+.2f} (t test "
        f"with the spread of our seeds for both): {verdict}"
    )

"""Count the printed cells of the tables of results at full scale, by what they are compared with.

python -m tests.cell_counts     print the tables that docs/fidelity.md has
"""

from collections import Counter
from itertools import groupby

from pubmill.recipes.tables import Composite, Row, TableRecipe
from pubmill.tables.published_values import published_lines, published_of_cells
from pubmill.tables.verdicts import incomparable
from tests import full_tables
from tests.markdown_tables import table

EMPTY = "empty"
LEFT_OUT = "not shown"
COPIED, COPIED_HERE = "copied", "copied from a table here"
KINDS = ("judged", "difference", COPIED_HERE, COPIED, "not comparable", "computed", EMPTY, LEFT_OUT)
INTRODUCTION = """
## Cells of the tables

Printed scores of the tables of results at full scale, if every dataset and all weights are there:

- **judged**: our runs are compared with the printed value, and the cell gets a verdict.
- **difference**: a difference to a cell of another table; it gets a verdict too.
- **copied from a table here**: the paper took the value from that table, whose verdict the cell shows.
- **copied**: the paper took the value from work of which no table is here.
- **not comparable**: ours is shown beside the printed value, without a verdict, and the table says why.
- **computed**: the best of other columns, or a drop between them, which have verdicts of their own.
- **empty**: there is no run of ours; the reasons follow.
- **not shown**: values beside the scores that the spec leaves out (`left_out:`), as it says why.

"""


def counts(table: str) -> tuple[Counter[str], Counter[str]]:
    """Return the number of printed cells of each kind, and of empty ones by reason."""
    recipe = full_tables.recipe(table)
    printed = published_of_cells(recipe.columns, recipe.all_rows, full_tables.published(table))
    rows = {row.key: row for row in recipe.all_rows}
    kinds = {key: kind(recipe, key[0], rows[key[1]]) for key in printed}
    empty = (reason(recipe, *key) for key, found in kinds.items() if found == EMPTY)
    lines = published_lines(full_tables.SPECS / f"tables/{table}.published.csv")
    left_out = (lines["value"] != "").sum() - full_tables.published(table)["value"].count()
    return Counter(kinds.values()) + Counter({LEFT_OUT: int(left_out)}), Counter(empty)


def kind(recipe: TableRecipe, column: str, row: Row) -> str:
    """Return what a printed cell is compared with."""
    is_computed = any(one.sources for one in recipe.columns if one.key == column)
    difference = next((one for one in recipe.differences if one.name == row.key), None)
    if difference:
        minus = difference.minus.get(column)
        parts = [(recipe, column, difference.of)]
        parts += [(recipe.others[minus.table], minus.column, minus.row)] if minus else []
        return "difference" if minus and all(has_runs(*part) for part in parts) else EMPTY
    if "the paper copied" in recipe.missing.get(f"{column}/{row.key}", ""):
        return COPIED_HERE if f"{column}/{row.key}" in recipe.copied else COPIED
    if is_computed:
        return "computed"
    if not has_runs(recipe, column, row.key):
        return EMPTY
    return "not comparable" if incomparable(recipe, column, row.key) else "judged"


def has_runs(recipe: TableRecipe, column: str, row: str) -> bool:
    """Return whether a cell, or all cells that a composite is computed from, have runs."""
    composite: Composite | None = next((one for one in recipe.composites if one.name == row), None)
    rows = [name for group in composite.groups.values() for name in group] if composite else [row]
    return all(recipe.records.get(column, {}).get(name) for name in rows)


def reason(recipe: TableRecipe, column: str, row: str) -> str:
    """Return why a cell has no runs."""
    known = (recipe.missing.get(key) for key in (f"{column}/{row}", column, row))
    return next(filter(None, known), "a part of the composite has no runs")


def as_markdown() -> str:
    """Return the counts by paper as Markdown."""
    tables = sorted(full_tables.specs().tables)
    rows: list[tuple[object, ...]] = []
    reasons: list[tuple[object, ...]] = []
    together: Counter[str] = Counter()
    for paper, some in groupby(tables, key=lambda name: name.partition("/")[0]):
        found: Counter[str] = Counter()
        for name in some:
            kinds, why = counts(name)
            found += kinds
            reasons += [(name, number, text) for text, number in why.items()]
        rows.append(line(paper, found))
        together += found
    by_paper = table(f"paper|{'|'.join(KINDS)}|printed", [*rows, line("all", together)])
    return f"{INTRODUCTION.lstrip(chr(10))}{by_paper}\n{table('table|empty|why', reasons)}"


def line(paper: str, found: Counter[str]) -> tuple[object, ...]:
    """Return a row of the table of counts."""
    return (paper, *(found[kind] for kind in KINDS), found.total())


if __name__ == "__main__":
    print(as_markdown(), end="")

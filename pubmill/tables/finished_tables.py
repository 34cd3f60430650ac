"""Build tables of results from files: published values and records, also of tables they refer to."""

from dataclasses import replace
from pathlib import Path

from pubmill.recipes.tables import TableRecipe
from pubmill.tables.aggregation import build
from pubmill.tables.cells import Table
from pubmill.tables.published_values import read_published, with_cells
from pubmill.tables.recorded_runs import load_runs
from pubmill.tables.row_floors import row_floors


def finished_table(recipe: TableRecipe, published: Path, results: Path) -> Table:
    """Return a table from the file of its published values and the records below a results folder. The files
    of the tables that it refers to are found from its own (PAPER/tableNN.published.csv)."""
    others = other_tables(recipe, published, results)
    made = build(recipe, read_published(published, recipe.left_out), load_runs(recipe, results), others)
    return replace(made, floors=row_floors(recipe, results))


def other_tables(recipe: TableRecipe, published: Path, results: Path) -> dict[str, Table]:
    """Return the parts of other tables that a table refers to; `published`: its own published values."""
    return {
        name: _part(other, published.parents[1] / f"{name}.published.csv", results)
        for name, other in recipe.others.items()
    }


def _part(recipe: TableRecipe, published: Path, results: Path) -> Table:
    """Return the part of a table that its recipe describes, without the other published values."""
    values = with_cells(recipe, read_published(published, recipe.left_out))
    return build(recipe, values, load_runs(recipe, results))

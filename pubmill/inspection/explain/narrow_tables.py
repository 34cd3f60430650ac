"""Tables built with only the records that one cell needs."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pubmill.recipes.tables import Column, Difference, Row, TableRecipe
from pubmill.tables.aggregation import finished_table
from pubmill.tables.cells import Table


def rows_behind(recipe: TableRecipe, row: Row) -> tuple[str, ...]:
    """Return the rows from which a composite is computed."""
    composite = next((one for one in recipe.composites if one.name == row.key and row.dataset is None), None)
    return tuple(name for group in composite.groups.values() for name in group) if composite else ()


def difference_of(recipe: TableRecipe, row: Row) -> Difference | None:
    """Return the difference that a row shows; None if it shows something else."""
    return next((one for one in recipe.differences if one.name == row.key and row.dataset is None), None)


def row_of(recipe: TableRecipe, key: str) -> Row:
    """Return the row, composite or difference with a key."""
    return next(one for one in recipe.all_rows if one.key == key)


def with_floors_that_exist(recipe: TableRecipe, results: Path) -> TableRecipe:
    """Return the recipe without floors that are not made yet: a cell can be explained without them."""

    def is_there(file: str) -> bool:
        return (results / file).is_file()

    there = {row: files for row, files in recipe.floors.items() if all(map(is_there, files))}
    return replace(recipe, floors=there)


def table_of_cell(recipe: TableRecipe, row: Row, column: Column, published: Path, results: Path) -> Table:
    """Build the table with only the records that a cell needs, also of another table that it refers to."""
    difference = difference_of(recipe, row)
    of = row_of(recipe, difference.of) if difference else row
    rows, columns = rows_behind(recipe, of) or (of.key,), column.sources or (column.key,)
    return finished_table(_narrow(recipe, rows, columns, (column.key, row.key)), published, results)


def _narrow(
    recipe: TableRecipe, rows: Sequence[str], columns: Sequence[str], referring: tuple[str, str]
) -> TableRecipe:
    """Return the recipe with only the records of these rows and columns; `referring`: the column and row of
    the only cell that may refer to another table."""
    known = {name: recipe.records[name] for name in columns if name in recipe.records}
    records = {name: {key: paths for key, paths in of.items() if key in rows} for name, of in known.items()}
    column, row = referring
    copied = {key: cell for key, cell in recipe.copied.items() if key == f"{column}/{row}"}
    differences = tuple(
        replace(one, minus={key: cell for key, cell in one.minus.items() if (key, one.name) == referring})
        for one in recipe.differences
    )
    used = {cell.table for cells in (copied, *(one.minus for one in differences)) for cell in cells.values()}
    others = {name: other for name, other in recipe.others.items() if name in used}
    return replace(recipe, records=records, copied=copied, differences=differences, others=others)

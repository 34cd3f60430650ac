"""Make one table of a paper: our values beside the published ones, and beside these the values of the tables
that its cells refer to. Writes OUTPUT.json, .csv, .md, .tex and .html."""

from pathlib import Path

from pubmill.recipes.tables import TableRecipe
from pubmill.report.table_rendering import TABLE_RENDERERS
from pubmill.storage.checksums import write_formats
from pubmill.tables.aggregation import finished_table


def main(recipe: TableRecipe, published: Path, results: Path, output: Path) -> None:
    write_formats(output, finished_table(recipe, published, results), TABLE_RENDERERS)

"""Make one table of a paper: our values beside the published ones.

    .venv/bin/python scripts/table.py --recipe JSON --published specs/tables/gu2020/table06.published.csv \\
        --results results/small --output results/small/tables/small/gu2020-table06

Inputs: the records that the recipe names, below --results; the published values, and beside them those of the
tables that its cells refer to.
Outputs: OUTPUT.json, .csv, .md, .tex and .html.
"""

from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.recipes.programs import program
from pubmill.recipes.tables import TableRecipe
from pubmill.report.table_rendering import TABLE_RENDERERS
from pubmill.storage.checksums import write_formats
from pubmill.tables.aggregation import finished_table


def main(
    recipe: TableRecipe,
    published: Annotated[Path, "values of the paper (CSV)"],
    results: Annotated[Path, "results folder with the records"],
    output: Annotated[Path, "path of the outputs, without extension"],
) -> None:
    write_formats(output, finished_table(recipe, published, results), TABLE_RENDERERS)


if __name__ == "__main__":
    run(program(main))

"""Make one table of a paper: our values beside the published ones.

    .venv/bin/python scripts/table.py --recipe JSON --published specs/tables/gu2020/table06.published.csv \\
        --results results/small --output results/small/tables/gu2020/table06

Inputs: the records that the recipe names, below --results; the published values, and beside them those of the
tables that its cells refer to; with --audit, the verdicts on whether published values are possible.
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
from pubmill.tables.audit import Audit, with_unreachable
from pubmill.tables.cells import read_as


def main(
    recipe: TableRecipe,
    published: Annotated[Path, "values of the paper (CSV)"],
    results: Annotated[Path, "results folder with the records"],
    output: Annotated[Path, "path of the outputs, without extension"],
    audit: Annotated[Path | None, "audit of the published values, .json"] = None,
) -> None:
    table = finished_table(recipe, published, results)
    if audit:
        table = with_unreachable(table, read_as(Audit, audit))
    write_formats(output, table, TABLE_RENDERERS)


if __name__ == "__main__":
    run(program(main))

"""Make one table of a paper: our values beside the published ones.

    .venv/bin/python scripts/table.py --recipe JSON --published specs/tables/gu2020/table06.published.csv \\
        --results results/small --output results/small/tables/gu2020/table06

Inputs: the records that the recipe names, below --results; the published values, and beside them those of the
tables that its cells refer to; with --audit, the verdicts on whether published values are possible.
Outputs: OUTPUT.json, .csv, .md, .tex and .html.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.errors import run
from pubmill.recipes.tables import TableRecipe
from pubmill.report.table_rendering import TABLE_RENDERERS
from pubmill.storage.checksums import write_formats
from pubmill.tables.audit import read_audit, with_unreachable
from pubmill.tables.finished_tables import finished_table


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--recipe", required=True, help="recipe of the table, as JSON text")
    parser.add_argument("--published", required=True, type=Path, help="values of the paper (CSV)")
    parser.add_argument("--results", required=True, type=Path, help="results folder with the records")
    parser.add_argument("--audit", type=Path, help="audit of the published values, .json")
    parser.add_argument("--output", required=True, type=Path, help="path of the outputs, without extension")
    arguments = parser.parse_args()
    recipe = recipes.read(TableRecipe, arguments.recipe)
    table = finished_table(recipe, arguments.published, arguments.results)
    if arguments.audit:
        table = with_unreachable(table, read_audit(arguments.audit))
    write_formats(arguments.output, table, TABLE_RENDERERS)


if __name__ == "__main__":
    run(main)

"""Make one fact table of a paper: our values beside the published ones.

    .venv/bin/python scripts/fact_table.py --recipe JSON \\
        --published specs/tables/gu2020/table03.published.csv \\
        --results results/full --output results/full/tables/gu2020/table03

Inputs: the artefacts that the recipe names (cards, diagnoses, statistics, records), below --results; the
published values.
Outputs: OUTPUT.json, .csv, .md, .tex and .html.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.errors import run
from pubmill.recipes.fact_tables import FactTableRecipe
from pubmill.report.table_rendering import FACT_TABLE_RENDERERS
from pubmill.storage.checksums import write_formats
from pubmill.tables.fact_cells import build, read_facts
from pubmill.tables.fact_sources import read_artefacts


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--recipe", required=True, help="recipe of the table, as JSON text")
    parser.add_argument("--published", required=True, type=Path, help="values of the paper (CSV)")
    parser.add_argument("--results", required=True, type=Path, help="results folder with the artefacts")
    parser.add_argument("--output", required=True, type=Path, help="path of the outputs, without extension")
    arguments = parser.parse_args()
    recipe = recipes.read(FactTableRecipe, arguments.recipe)
    table = build(recipe, read_facts(arguments.published, recipe), read_artefacts(recipe, arguments.results))
    write_formats(arguments.output, table, FACT_TABLE_RENDERERS)


if __name__ == "__main__":
    run(main)

"""Make one fact table of a paper: our values beside the published ones.

    .venv/bin/python scripts/fact_table.py --recipe JSON \\
        --published specs/tables/gu2020/table03.published.csv \\
        --results results/full --output results/full/tables/gu2020/gu2020-table03

Inputs: the artefacts that the recipe names (cards, diagnoses, statistics, records), below --results; the
published values.
Outputs: OUTPUT.json, .csv, .md, .tex and .html.
"""

from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.recipes.fact_tables import FactTableRecipe
from pubmill.recipes.programs import program
from pubmill.report.table_rendering import FACT_TABLE_RENDERERS
from pubmill.storage.checksums import write_formats
from pubmill.tables.fact_cells import build, read_artefacts, read_facts


def main(
    recipe: FactTableRecipe,
    published: Annotated[Path, "values of the paper (CSV)"],
    results: Annotated[Path, "results folder with the artefacts"],
    output: Annotated[Path, "path of the outputs, without extension"],
) -> None:
    table = build(recipe, read_facts(published, recipe), read_artefacts(recipe, results))
    write_formats(output, table, FACT_TABLE_RENDERERS)


if __name__ == "__main__":
    run(program(main))

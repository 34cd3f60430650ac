"""Make one fact table of a paper, our values beside the published ones, from the artefacts that the recipe
names (cards, diagnoses, statistics, records): OUTPUT.json, .csv, .md, .tex and .html."""

from pathlib import Path

from pubmill.recipes.fact_tables import FactTableRecipe
from pubmill.report.table_rendering import FACT_TABLE_RENDERERS
from pubmill.storage.checksums import write_formats
from pubmill.tables.fact_cells import build, read_artefacts, read_facts


def main(recipe: FactTableRecipe, published: Path, results: Path, output: Path) -> None:
    table = build(recipe, read_facts(published, recipe), read_artefacts(recipe, results))
    write_formats(output, table, FACT_TABLE_RENDERERS)

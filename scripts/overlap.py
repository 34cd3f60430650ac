"""Split the scores of a table by what the scored items share with training. Needs no GPU and no torch.

    .venv/bin/python scripts/overlap.py --recipe JSON --table results/full/tables/gu2020/table06.json \\
        --results results/full --output results/full/tables/gu2020/table06.overlap

Inputs, below --results: the records and predictions of the table's runs, the examples of their datasets, and
where they are there, the identifiers of mentions (concepts/DATASET.jsonl.gz); of the corpora in the recipe,
contamination.json and document-years.json.
Outputs: OUTPUT.json, .csv, .md and .html.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.errors import run
from pubmill.recipes.overlaps import OverlapRecipe
from pubmill.report.overlap_rendering import OVERLAP_RENDERERS
from pubmill.storage.checksums import write_formats
from pubmill.tables.cells import read_table
from pubmill.tables.overlap_tables import overlap_table


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--recipe", required=True, help="JSON text or file: an OverlapRecipe")
    parser.add_argument("--table", required=True, type=Path, help="the table, .json")
    parser.add_argument("--results", required=True, type=Path, help="results folder with the runs")
    parser.add_argument("--output", required=True, type=Path, help="path of the outputs, without extension")
    arguments = parser.parse_args()
    recipe = recipes.read(OverlapRecipe, arguments.recipe)
    found = overlap_table(recipe, read_table(arguments.table), arguments.results)
    write_formats(arguments.output, found, OVERLAP_RENDERERS)


if __name__ == "__main__":
    run(main)

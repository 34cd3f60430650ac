"""Write the page of one dataset, from its card and its spec.

    .venv/bin/python scripts/dataset_page.py --recipe JSON --results results/full \\
        --output results/full/pages/datasets/chemprot@blurb

Inputs, below --results: the dataset's card and the records of its source files. The examples are not
read, so the page cannot show any text of the dataset. Outputs: OUTPUT.json (for the report), OUTPUT.md,
OUTPUT.html, and Croissant metadata: OUTPUT.croissant.json.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.errors import run
from pubmill.recipes.report import PageRecipe
from pubmill.report.croissant import DATASET_PAGE_RENDERERS
from pubmill.report.dataset_pages import make_page
from pubmill.storage.checksums import write_formats


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--recipe", required=True, help="recipe of the page, as JSON text")
    parser.add_argument("--results", required=True, type=Path, help="results folder with the card")
    parser.add_argument("--output", required=True, type=Path, help="path of the outputs, without extension")
    arguments = parser.parse_args()
    page = make_page(recipes.read(PageRecipe, arguments.recipe), arguments.results)
    write_formats(arguments.output, page, DATASET_PAGE_RENDERERS)


if __name__ == "__main__":
    run(main)

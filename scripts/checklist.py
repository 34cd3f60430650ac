"""Fill the reproducibility checklist of a study.

    .venv/bin/python scripts/checklist.py --recipe JSON --results FOLDER \\
        --output FOLDER/reports/small.checklist

Inputs, below --results: tables, records, choices of hyper-parameters, pretraining logs, corpus statistics,
vocabulary diagnoses and dataset cards. Output: OUTPUT.md and OUTPUT.html.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.errors import run
from pubmill.extras.checklist.checklist_evidence import read_study
from pubmill.extras.checklist.document import CHECKLIST_RENDERERS, fill
from pubmill.recipes.report import ChecklistRecipe
from pubmill.storage.checksums import write_formats


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--recipe", required=True, help="recipe of the checklist, as JSON text")
    parser.add_argument("--results", required=True, type=Path, help="results folder of the study's scale")
    parser.add_argument("--output", required=True, type=Path, help="path of the outputs, without extension")
    arguments = parser.parse_args()
    checklist = fill(read_study(recipes.read(ChecklistRecipe, arguments.recipe), arguments.results))
    write_formats(arguments.output, checklist, CHECKLIST_RENDERERS)


if __name__ == "__main__":
    run(main)

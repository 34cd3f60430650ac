"""Make the report of a study: one self-contained page.

    .venv/bin/python scripts/report.py --recipe JSON --results results/small \\
        --output results/small/reports/small.html

Inputs, below --results: tables, comparisons of their models, pretraining logs, corpus statistics, vocabulary
diagnoses, dataset cards and the records of all source files. Output: one HTML file that needs no network.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.errors import run
from pubmill.recipes.report import ReportRecipe
from pubmill.report.study_report import read_report, render
from pubmill.storage.checksums import write_formats


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--recipe", required=True, help="recipe of the report, as JSON text")
    parser.add_argument("--results", required=True, type=Path, help="results folder of the study's scale")
    parser.add_argument("--output", required=True, type=Path, help="page to write")
    arguments = parser.parse_args()
    report = read_report(recipes.read(ReportRecipe, arguments.recipe), arguments.results)
    write_formats(arguments.output.with_suffix(""), report, {"html": render})


if __name__ == "__main__":
    run(main)

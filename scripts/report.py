"""Make the report of a study: one self-contained page.

    .venv/bin/python scripts/report.py --recipe JSON --results results/small \\
        --output results/small/reports/small.html

Inputs, below --results: tables, comparisons of their models, pretraining logs, corpus statistics, vocabulary
diagnoses, dataset cards and the records of all source files. Output: one HTML file that needs no network.
"""

from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.recipes.programs import program
from pubmill.recipes.report import ReportRecipe
from pubmill.report.study_report import read_report, render
from pubmill.storage.checksums import write_formats


def main(
    recipe: ReportRecipe,
    results: Annotated[Path, "results folder of the study's scale"],
    output: Annotated[Path, "page to write"],
) -> None:
    write_formats(output.with_suffix(""), read_report(recipe, results), {"html": render})


if __name__ == "__main__":
    run(program(main))

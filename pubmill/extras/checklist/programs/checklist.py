"""Fill the reproducibility checklist of a study.

    .venv/bin/python pubmill/extras/checklist/programs/checklist.py --recipe JSON --results FOLDER \\
        --output FOLDER/reports/small.checklist

Inputs, below --results: tables, records, choices of hyper-parameters, pretraining logs, corpus statistics,
vocabulary diagnoses and dataset cards. Output: OUTPUT.md and OUTPUT.html.
"""

from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.extras.checklist.checklist_evidence import read_study
from pubmill.extras.checklist.checklist_recipes import ChecklistRecipe
from pubmill.extras.checklist.document import CHECKLIST_RENDERERS, fill
from pubmill.recipes.programs import program
from pubmill.storage.checksums import write_formats


def main(
    recipe: ChecklistRecipe,
    results: Annotated[Path, "results folder of the study's scale"],
    output: Annotated[Path, "path of the outputs, without extension"],
) -> None:
    checklist = fill(read_study(recipe, results))
    write_formats(output, checklist, CHECKLIST_RENDERERS)


if __name__ == "__main__":
    run(program(main))

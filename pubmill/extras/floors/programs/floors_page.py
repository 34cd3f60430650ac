"""Write the page of a study's floors.

    .venv/bin/python pubmill/extras/floors/programs/floors_page.py --recipe JSON --results results/demo \\
        --output results/demo/reports/demo.floors.html

Outputs: STUDY.floors.json and .html; --output names one of them.
"""

from pathlib import Path

from pubmill.errors import run
from pubmill.extras.floors.floors_recipes import FloorsPageRecipe
from pubmill.extras.floors.headroom import HEADROOM_RENDERERS, study_headroom
from pubmill.job import program
from pubmill.storage.checksums import write_formats


def main(recipe: FloorsPageRecipe, results: Path, output: Path) -> None:
    write_formats(output.with_suffix(""), study_headroom(recipe, results), HEADROOM_RENDERERS)


if __name__ == "__main__":
    run(program(main))

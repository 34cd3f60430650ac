"""Write the page that lists where published values of the papers contradict each other.

    .venv/bin/python scripts/contradictions.py --recipe JSON --specs specs \\
        --output results/full/pages/contradictions

Inputs, below --specs: the published values of all tables of results. Outputs: OUTPUT.json (for the report),
OUTPUT.md and OUTPUT.html.
"""

from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.recipes.programs import program
from pubmill.recipes.tables import ContradictionsRecipe
from pubmill.report.contradictions import CONTRADICTION_RENDERERS, find_contradictions
from pubmill.storage.checksums import write_formats


def main(
    recipe: ContradictionsRecipe,
    specs: Annotated[Path, "folder of the specs"],
    output: Annotated[Path, "path of the outputs, without extension"],
) -> None:
    write_formats(output, find_contradictions(recipe, specs), CONTRADICTION_RENDERERS)


if __name__ == "__main__":
    run(program(main))

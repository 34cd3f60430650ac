"""Write the page of one dataset, from its card and its spec.

    .venv/bin/python scripts/dataset_page.py --recipe JSON --results results/full \\
        --output results/full/pages/datasets/chemprot@blurb

Inputs, below --results: the dataset's card and the records of its source files. The examples are not
read, so the page cannot show any text of the dataset. Outputs: OUTPUT.json (for the report), OUTPUT.md,
OUTPUT.html.
"""

from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.recipes.programs import program
from pubmill.recipes.report import PageRecipe
from pubmill.report.dataset_pages import PAGE_RENDERERS, make_page
from pubmill.storage.checksums import write_formats


def main(
    recipe: PageRecipe,
    results: Annotated[Path, "results folder with the card"],
    output: Annotated[Path, "path of the outputs, without extension"],
) -> None:
    write_formats(output, make_page(recipe, results), PAGE_RENDERERS)


if __name__ == "__main__":
    run(program(main))

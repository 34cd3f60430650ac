"""Show the scores of a model on other datasets as a matrix.

    .venv/bin/python pubmill/extras/transfer/programs/transfer_matrix.py --recipe JSON \\
        --results results/full --output OUTPUT

Inputs: the files with scores that the recipe names, below --results. Outputs: OUTPUT.json, .md and .html.
"""

from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.extras.transfer.transfer_matrix import TRANSFER_RENDERERS, transfer_matrix
from pubmill.extras.transfer.transfers import TransferMatrixRecipe
from pubmill.recipes.programs import program
from pubmill.storage.checksums import write_formats


def main(
    recipe: TransferMatrixRecipe,
    results: Annotated[Path, "results folder with the scores"],
    output: Annotated[Path, "path of the outputs, without extension"],
) -> None:
    write_formats(output, transfer_matrix(recipe, results), TRANSFER_RENDERERS)


if __name__ == "__main__":
    run(program(main))

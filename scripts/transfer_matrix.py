"""Show the scores of a model on other datasets as a matrix.

    .venv/bin/python scripts/transfer_matrix.py --recipe JSON --results results/full --output OUTPUT

Inputs: the files with scores that the recipe names, below --results. Outputs: OUTPUT.json, .md and .html.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


from pubmill import recipes
from pubmill.errors import run
from pubmill.extras.transfer.transfer_matrix import transfer_matrix
from pubmill.extras.transfer.transfer_rendering import TRANSFER_RENDERERS
from pubmill.recipes.transfers import TransferMatrixRecipe
from pubmill.storage.checksums import write_formats


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--recipe", required=True, help="JSON text or file: a TransferMatrixRecipe")
    parser.add_argument("--results", required=True, type=Path, help="results folder with the scores")
    parser.add_argument("--output", required=True, type=Path, help="path of the outputs, without extension")
    arguments = parser.parse_args()
    found = transfer_matrix(recipes.read(TransferMatrixRecipe, arguments.recipe), arguments.results)
    write_formats(arguments.output, found, TRANSFER_RENDERERS)


if __name__ == "__main__":
    run(main)

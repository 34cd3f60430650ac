"""Score predictions of a dataset that need no model, or a second of learning, for tables.

    .venv/bin/python scripts/floors.py --recipe JSON --examples results/full/datasets/bc5-chem \\
        --predictions results/full/floors/bc5-chem --output results/full/floors/bc5-chem.json

Input: the examples of the dataset. Outputs: floors and ceilings by all metrics, and
FLOOR.predictions.jsonl.gz of each floor.
"""

from pathlib import Path
from typing import Annotated

from pubmill.baselines.floors import measure_floors
from pubmill.errors import run
from pubmill.examples.kinds import SPLITS
from pubmill.recipes.datasets import FloorsRecipe
from pubmill.recipes.programs import program
from pubmill.storage.files import sealed, write_json


def main(
    recipe: FloorsRecipe,
    examples: Annotated[Path, "folder of the examples"],
    predictions: Annotated[Path, "folder for predictions to write"],
    output: Annotated[Path, "JSON file to write"],
) -> None:
    files = {str(split): examples / f"{split}.jsonl.gz" for split in SPLITS if split in recipe.splits}
    write_json(output, sealed(measure_floors(recipe, files, predictions).model_dump()))


if __name__ == "__main__":
    run(program(main))

"""Score predictions of a dataset that need no model, or a second of learning: floors and ceilings by all
metrics in OUTPUT, DATASET.json, and FLOOR.predictions.jsonl.gz in the folder DATASET beside it.

    .venv/bin/python pubmill/extras/floors/programs/floors.py --recipe JSON \\
        --examples results/demo/datasets/bc2gm --output results/demo/floors/bc2gm.json
"""

from pathlib import Path

from pubmill.errors import run
from pubmill.extras.floors.floor_predictions import measure_floors
from pubmill.extras.floors.floors_recipes import FloorsRecipe
from pubmill.job import program
from pubmill.storage.files import sealed, write_json


def main(recipe: FloorsRecipe, examples: Path, output: Path) -> None:
    files = {split: examples / f"{split}.jsonl.gz" for split in recipe.splits}
    write_json(output, sealed(measure_floors(recipe, files, output.with_suffix("")).model_dump()))


if __name__ == "__main__":
    run(program(main))

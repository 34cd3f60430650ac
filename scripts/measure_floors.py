"""Score predictions of a dataset that need no learning, or seconds of it, for tables.

    .venv/bin/python scripts/measure_floors.py --recipe JSON --examples results/full/datasets/bc5-chem \\
        --predictions results/full/floors/bc5-chem --output results/full/floors/bc5-chem.json

Inputs:  the examples of the dataset
Outputs: floors and ceilings by all metrics, and FLOOR.predictions.jsonl.gz and FLOOR.json of each floor
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.errors import run
from pubmill.examples.kinds import KINDS, SPLITS, read_examples
from pubmill.extras.baselines.headroom import ceiling_of
from pubmill.extras.baselines.measured import measure_floors
from pubmill.recipes.datasets import FloorsRecipe
from pubmill.storage.files import sealed, write_json
from pubmill.tables.row_floors import DatasetFloors, FloorScores


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--recipe", required=True, help="JSON text or file: a FloorsRecipe")
    parser.add_argument("--examples", required=True, type=Path, help="folder of the examples")
    parser.add_argument("--predictions", required=True, type=Path, help="folder for predictions to write")
    parser.add_argument("--output", required=True, type=Path, help="JSON file to write")
    arguments = parser.parse_args()
    recipe = recipes.read(FloorsRecipe, arguments.recipe)
    files = {
        str(split): arguments.examples / f"{split}.jsonl.gz" for split in SPLITS if split in recipe.splits
    }
    measured = measure_floors(recipe, files, arguments.predictions)
    ceiling = ceiling_of(recipe, read_examples(files["test"], KINDS[recipe.kind]))
    found = DatasetFloors(
        dataset=recipe.name,
        floors={one.floor: FloorScores(definition=one.definition, metrics=one.metrics) for one in measured},
        ceilings={recipe.metric: ceiling},
    )
    write_json(arguments.output, sealed(found.model_dump()))


if __name__ == "__main__":
    run(main)

"""Score predictions of a dataset that need no learning, or seconds of it, for tables.

    .venv/bin/python pubmill/extras/baselines/programs/floors.py --recipe JSON \\
        --examples results/full/datasets/bc5-chem \\
        --predictions results/full/floors/bc5-chem --output results/full/floors/bc5-chem.json

Inputs:  the examples of the dataset
Outputs: floors and ceilings by all metrics, and FLOOR.predictions.jsonl.gz and FLOOR.json of each floor
"""

from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.examples.kinds import KINDS, SPLITS, read_examples
from pubmill.extras.baselines.floor import FloorsRecipe
from pubmill.extras.baselines.headroom import ceiling_of
from pubmill.extras.baselines.measured import measure_floors
from pubmill.recipes.programs import program
from pubmill.storage.files import sealed, write_json
from pubmill.tables.row_floors import DatasetFloors, FloorScores


def main(
    recipe: FloorsRecipe,
    examples: Annotated[Path, "folder of the examples"],
    predictions: Annotated[Path, "folder for predictions to write"],
    output: Annotated[Path, "JSON file to write"],
) -> None:
    files = {str(split): examples / f"{split}.jsonl.gz" for split in SPLITS if split in recipe.splits}
    measured = measure_floors(recipe, files, predictions)
    ceiling = ceiling_of(recipe, read_examples(files["test"], KINDS[recipe.kind]))
    record = DatasetFloors(
        dataset=recipe.name,
        floors={one.floor: FloorScores(definition=one.definition, metrics=one.metrics) for one in measured},
        ceilings={recipe.metric: ceiling},
    )
    write_json(output, sealed(record.model_dump()))


if __name__ == "__main__":
    run(program(main))

"""Score predictions of a dataset that need no model, or a second of learning, for tables: floors and ceilings
by all metrics, and FLOOR.predictions.jsonl.gz of each floor."""

from pathlib import Path

from pubmill.baselines.floors import measure_floors
from pubmill.examples.kinds import SPLITS
from pubmill.recipes.datasets import FloorsRecipe
from pubmill.storage.files import sealed, write_json


def main(recipe: FloorsRecipe, examples: Path, predictions: Path, output: Path) -> None:
    files = {str(split): examples / f"{split}.jsonl.gz" for split in SPLITS if split in recipe.splits}
    write_json(output, sealed(measure_floors(recipe, files, predictions).model_dump()))

"""Choose a dataset's hyperparameters from the dev scores of its trials, given in the order of the grid, by a
recipe such as `{"by": "dev", "decides": ["learning_rate"]}`, as `{"chosen", "failed", "mean_dev",
"considered"}`. If all trials failed, chosen is null and failed the reason, and the runs that depend on it
fail too."""

from pathlib import Path

from pubmill.finetuning.trial_selection import select
from pubmill.metrics.run_manifests import read_manifest
from pubmill.recipes.finetuning import ChoiceRecipe
from pubmill.storage.files import read_json, sealed, write_json


def main(recipe: ChoiceRecipe, trials: list[Path], output: Path) -> None:
    files = [one.training for path in trials for one in read_manifest(path)]
    chosen = select(((path, read_json(path)) for path in files), recipe.decides)
    write_json(output, sealed(chosen))

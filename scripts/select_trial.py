"""Choose a dataset's hyperparameters from the dev scores of its trials.

    .venv/bin/python scripts/select_trial.py --recipe '{"by": "dev", "decides": ["learning_rate"]}' \
        --output RUNS/selected.json \
        --trials RUNS/trials/T1/seed-1.training.json RUNS/trials/T2/seed-1.training.json

Inputs: the training.json of every trial, in the order of the grid. `decides`: the keys that were searched,
and `stop_after` if the number of steps is chosen too.
Output: selected.json, `{"chosen", "failed", "mean_dev", "considered"}`, which `finetune.py --selected` reads.
If all trials failed, chosen is null and failed the reason, and the runs that depend on it fail too.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill import recipes
from pubmill.errors import run
from pubmill.finetuning.trial_selection import select
from pubmill.recipes.finetuning import ChoiceRecipe
from pubmill.storage.files import read_json, sealed, write_json


def main() -> None:
    parser = argparse.ArgumentParser(description="Choose hyperparameters from the dev scores of trials.")
    parser.add_argument(
        "--recipe", required=True, help='JSON: {"by": "dev", "decides": [keys of the recipe]}'
    )
    parser.add_argument("--trials", type=Path, nargs="+", required=True, help="training.json of every trial")
    parser.add_argument("--output", type=Path, required=True, help="selected.json to write")
    arguments = parser.parse_args()
    recipe = recipes.read(ChoiceRecipe, arguments.recipe)
    chosen = select(((path, read_json(path)) for path in arguments.trials), recipe.decides)
    write_json(arguments.output, sealed(chosen))


if __name__ == "__main__":
    run(main)

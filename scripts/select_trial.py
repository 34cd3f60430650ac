"""Choose a dataset's hyperparameters from the dev scores of its trials.

    .venv/bin/python scripts/select_trial.py --recipe '{"by": "dev", "decides": ["learning_rate"]}' \
        --output RUNS/selected.json \
        --trials RUN/trials/POINT.json RUN/trials/OTHER-POINT.json

Inputs: the manifests of all trials, in the order of the grid. `decides`: the keys that were searched,
and `stop_after` if the number of steps is chosen too.
Output: selected.json, `{"chosen", "failed", "mean_dev", "considered"}`, which `finetune.py --selected` reads.
If all trials failed, chosen is null and failed the reason, and the runs that depend on it fail too.
"""

from pathlib import Path
from typing import Annotated

from pubmill.errors import run
from pubmill.finetuning.trial_selection import select
from pubmill.metrics.run_manifests import read_manifest
from pubmill.recipes.finetuning import ChoiceRecipe
from pubmill.recipes.programs import program
from pubmill.storage.files import read_json, sealed, write_json


def main(
    recipe: ChoiceRecipe,
    trials: Annotated[list[Path], "manifests of all trials"],
    output: Annotated[Path, "selected.json to write"],
) -> None:
    files = [one.training for path in trials for one in read_manifest(path)]
    chosen = select(((path, read_json(path)) for path in files), recipe.decides)
    write_json(output, sealed(chosen))


if __name__ == "__main__":
    run(program(main))

"""Choose a dataset's hyperparameters from the dev scores of its trials.

    python scripts/select_trial.py --recipe '{"by": "dev"}' --output RUNS/selected.json \
        --trials RUNS/trials/T1/seed-1.training.json RUNS/trials/T2/seed-1.training.json

Inputs: the training.json of every trial, in the order of the grid.
Output: selected.json, `{"learning_rate", "batch_size", "epochs", "mean_dev", "considered"}`, which
`finetune.py --selected` takes.
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill.errors import PubmillError, run
from pubmill.files import read_json, write_json
from pubmill.finetuning.selection import select


def main() -> None:
    parser = argparse.ArgumentParser(description="Choose hyperparameters from the dev scores of trials.")
    parser.add_argument("--recipe", required=True, help='JSON: {"by": "dev"}')
    parser.add_argument("--trials", type=Path, nargs="+", required=True, help="training.json of every trial")
    parser.add_argument("--output", type=Path, required=True, help="selected.json to write")
    arguments = parser.parse_args()
    try:
        by = json.loads(arguments.recipe).get("by")
    except (json.JSONDecodeError, AttributeError):
        raise PubmillError(f"--recipe is not a JSON object: {arguments.recipe}") from None
    if by != "dev":
        raise PubmillError(f'--recipe: "by" is {by!r}; trials are selected by "dev" only')
    write_json(arguments.output, select((path, read_json(path)) for path in arguments.trials))


if __name__ == "__main__":
    run(main)

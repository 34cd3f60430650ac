"""Fine-tune a model on a dataset with one seed and predict one split.

    python scripts/finetune.py --recipe '{"task": "tokens", "metric": "entity_f1", ...}' \
        --model models/M --dataset datasets/D --seed 1 --split test \
        --output RUNS/final/seed-1.predictions.jsonl.gz [--selected RUNS/selected.json] [--keep TASK_MODEL]

Inputs: a Hugging Face model folder (safetensors), a dataset folder with train, the split, and dev (or what
--dev says instead).
Outputs: the predictions, one line `{"id", "labels"}` for each example, and beside them
seed-1.training.json with losses, dev scores, speed and provenance; with --keep, a folder from which
the model predicts again: another split with --kept, new text with scripts/predict.py.
Needs only torch and transformers. Killed and run again, it gives the same predictions.
"""

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # deterministic matrix products on GPUs

from pubmill import recipes
from pubmill.errors import PubmillError, run
from pubmill.files import read_json, write_json, write_jsonl_gz
from pubmill.finetuning.selection import chosen_values

SUFFIX = ".predictions.jsonl.gz"


def main() -> None:
    parser = argparse.ArgumentParser(description="Fine-tune a model on a dataset and predict one split.")
    parser.add_argument("--recipe", required=True, help="FinetuningRecipe: JSON text or a JSON file")
    parser.add_argument("--selected", type=Path, help="selected.json: its choice comes on top of the recipe")
    parser.add_argument("--model", type=Path, required=True, help="model folder")
    parser.add_argument("--dataset", type=Path, required=True, help="dataset folder (train, dev, test)")
    parser.add_argument("--seed", type=int, required=True, help="seed of the new layer, dropout and batches")
    parser.add_argument("--split", choices=("dev", "test"), required=True, help="split to predict")
    parser.add_argument(
        "--dev",
        choices=("dev", "test", "none"),
        default="dev",
        help="split that the weights are chosen by; none: the recipe keeps the last",
    )
    parser.add_argument("--output", type=Path, required=True, help=f"predictions to write, NAME{SUFFIX}")
    models = parser.add_mutually_exclusive_group()
    models.add_argument("--keep", type=Path, help="also write the task model, for new text, to this folder")
    models.add_argument(
        "--kept", type=Path, help="task model that this very run has kept: predict with it, train nothing"
    )
    arguments = parser.parse_args()
    if not arguments.output.name.endswith(SUFFIX):
        raise PubmillError(f"--output is {arguments.output}; its name must end in {SUFFIX}")
    chosen = chosen_values(arguments.selected, read_json(arguments.selected)) if arguments.selected else {}
    recipe = recipes.read(recipes.FinetuningRecipe, arguments.recipe, chosen)

    # Only now, when the arguments are known to be right: this takes seconds, as it imports torch.
    from pubmill.finetuning.keeping import keep
    from pubmill.finetuning.run import Run, finetune, predict_kept

    dev = None if arguments.dev == "none" else arguments.dev
    asked = (recipe, arguments.model, arguments.dataset, arguments.seed, arguments.split, dev)
    made = predict_kept(arguments.kept, *asked) if arguments.kept else finetune(*asked)
    name = arguments.output.name.removesuffix(SUFFIX)
    write_json(arguments.output.with_name(f"{name}.training.json"), made.account)
    write_jsonl_gz(arguments.output, made.predictions)
    if arguments.keep and isinstance(made, Run):
        keep(arguments.keep, made.task, made.model, made.account, arguments.dataset)


if __name__ == "__main__":
    run(main)

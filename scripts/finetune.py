"""Fine-tune a model on a dataset with one seed and predict one split.

    python scripts/finetune.py --recipe '{"task": "tokens", "metric": "entity_f1", ...}' \
        --model models/M --dataset datasets/D --seed 1 --split test \
        --output RUNS/final/seed-1.predictions.jsonl.gz [--selected RUNS/selected.json]

Inputs: a Hugging Face model folder (safetensors), a dataset folder with train, dev and the split.
Outputs: the predictions, one line `{"id", "labels"}` for each example, and beside them
seed-1.training.json with losses, dev scores, speed and provenance.
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
from pubmill.finetuning.selection import DECIDED

SUFFIX = ".predictions.jsonl.gz"


def main() -> None:
    parser = argparse.ArgumentParser(description="Fine-tune a model on a dataset and predict one split.")
    parser.add_argument("--recipe", required=True, help="FinetuningRecipe: JSON text or a JSON file")
    parser.add_argument(
        "--selected", type=Path, help="selected.json: decides learning rate, batch size, epochs"
    )
    parser.add_argument("--model", type=Path, required=True, help="model folder")
    parser.add_argument("--dataset", type=Path, required=True, help="dataset folder (train, dev, test)")
    parser.add_argument("--seed", type=int, required=True, help="seed of the new layer, dropout and batches")
    parser.add_argument("--split", choices=("dev", "test"), required=True, help="split to predict")
    parser.add_argument("--output", type=Path, required=True, help=f"predictions to write, NAME{SUFFIX}")
    arguments = parser.parse_args()
    if not arguments.output.name.endswith(SUFFIX):
        raise PubmillError(f"--output is {arguments.output}; its name must end in {SUFFIX}")
    selected = read_json(arguments.selected) if arguments.selected else None
    chosen = {key: selected[key] for key in DECIDED} if selected else {}
    recipe = recipes.read(recipes.FinetuningRecipe, arguments.recipe, chosen)

    # Only now, when the arguments are known to be right: this takes seconds, as it imports torch.
    from pubmill.finetuning.run import finetune

    made = finetune(recipe, arguments.model, arguments.dataset, arguments.seed, arguments.split)
    name = arguments.output.name.removesuffix(SUFFIX)
    write_json(arguments.output.with_name(f"{name}.training.json"), made.account)
    write_jsonl_gz(arguments.output, made.predictions)


if __name__ == "__main__":
    run(main)

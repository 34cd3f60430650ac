"""Fine-tune a model on a dataset with one seed and predict one split.

    .venv/bin/python scripts/finetune.py --recipe '{"task": "tokens", "metric": "entity_f1", ...}' \\
        --model models/M --dataset datasets/D --seed 1 --split test \\
        --output RUNS/final/seed-1.predictions.jsonl.gz [--selected RUNS/selected.json] [--keep TASK_MODEL]

Inputs: a Hugging Face model folder (safetensors), and a dataset folder with train, the split to predict, and
dev (or the split that --dev names).
Outputs: the predictions, and in the same folder seed-1.training.json with losses, dev scores, speed and
provenance; with --keep, also a folder with the task model, which can predict another split (--kept) or new
text (pubmill predict).

The predictions have one line for each example of the split, in the same order. Its form depends on the task:
tokens      {"id", "labels": [a BIO label for each word]}
sequence    {"id", "label": text}
multilabel  {"id", "labels": [sorted]}
regression  {"id", "score": number}
span        {"id", "answers": [{"text", "probability"}, ...]}, best first; text "" means no answer
If training failed and would fail again, all predictions are null, `"failed"` in training.json has the reason
(such as "nan"), and the exit status is 0. The same is written without training if all trials behind
--selected, or the run that made --model, failed. Faults of the dataset, and errors that may pass (memory,
disk, GPU), end the program with status 1.
Needs only torch and transformers. Killed and run again, it gives the same predictions on a processor; on a
GPU only with PUBMILL_DETERMINISTIC=1, which refuses operations that have no deterministic kernel. Without it,
attention's backward pass differs between runs in the last digits, and so may predictions.
"""

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("GOMP_SPINCOUNT", "1000")  # two at once on two cores: a sixth of the time (pretrain.py)

from pubmill import recipes
from pubmill.errors import PubmillError, run
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.trial_selection import read_choice
from pubmill.storage.privacy import keep_private
from pubmill.storage.result_paths import PREDICTIONS


def main() -> None:
    parser = argparse.ArgumentParser(description="Fine-tune a model on a dataset and predict one split.")
    parser.add_argument("--recipe", required=True, help="FinetuningRecipe: JSON text or a JSON file")
    parser.add_argument("--selected", type=Path, help="selected.json, whose values override the recipe")
    parser.add_argument("--model", type=Path, required=True, help="model folder")
    parser.add_argument("--dataset", type=Path, required=True, help="dataset folder (train, dev, test)")
    parser.add_argument("--seed", type=int, required=True, help="seed of the new layer, dropout and batches")
    parser.add_argument("--split", choices=("dev", "test"), required=True, help="split to predict")
    parser.add_argument(
        "--dev",
        choices=("dev", "test", "none"),
        default="dev",
        help="split whose score selects the weights; none: keep the last weights",
    )
    parser.add_argument("--output", type=Path, required=True, help=f"predictions to write, NAME{PREDICTIONS}")
    models = parser.add_mutually_exclusive_group()
    models.add_argument("--keep", type=Path, help="also write the task model to this folder")
    models.add_argument(
        "--kept", type=Path, help="task model that the same run has kept: predict with it, without training"
    )
    arguments = parser.parse_args()
    if not arguments.output.name.endswith(PREDICTIONS):
        raise PubmillError(f"--output is {arguments.output}; its name must end in {PREDICTIONS}")
    keep_private([arguments.model, arguments.dataset])
    fine_tune(arguments)


def fine_tune(arguments: argparse.Namespace) -> None:
    """Train and predict, or record why nothing was trained; write the predictions and training.json."""
    values, failed = read_choice(arguments.selected) if arguments.selected else ({}, None)
    recipe = recipes.read(recipes.FinetuningRecipe, arguments.recipe, values)
    dev = None if arguments.dev == "none" else arguments.dev
    job = FinetuningJob(recipe, arguments.model, arguments.dataset, arguments.seed, arguments.split, dev)

    # Imported only after the arguments are checked: importing torch takes seconds.
    from pubmill.finetuning.run import finetune_or_fail, not_chosen, predict_kept, write_outcome

    if failed is not None:
        outcome = not_chosen(job, values, failed)
    else:
        outcome = predict_kept(job, arguments.kept) if arguments.kept else finetune_or_fail(job)
    write_outcome(outcome, job, arguments.output, arguments.keep)


if __name__ == "__main__":
    run(main)

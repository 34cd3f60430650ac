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
If training failed and would fail again (training.json: `"failed"` has the reason, such as "nan"), what is
predicted is null in all lines, and the exit status is 0. So it is where all trials behind --selected failed,
or the run did that --model is from; nothing is trained then. Faults of the dataset, and errors that another
try may not meet (memory, disk, GPU), end the program with status 1.
In a run of Snakemake on one machine, the program runs in a fork of a process that loads torch, a model and
its data once for consecutive runs of any seed; killing the program kills its fork.
Needs only torch and transformers. Killed and run again, it gives the same predictions on a processor; on a
GPU only with PUBMILL_DETERMINISTIC=1, which refuses operations that have no deterministic kernel. Without it,
attention's backward pass differs between runs in the last digits, and so may predictions.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("GOMP_SPINCOUNT", "1000")  # two at once on two cores: a sixth of the time (pretrain.py)

from pubmill import recipes
from pubmill.errors import PubmillError, run
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.shared_process import serve_finetunings
from pubmill.finetuning.trial_selection import read_choice
from pubmill.hardware.forked_programs import status_in_fork
from pubmill.storage.privacy import keep_private
from pubmill.storage.result_paths import PREDICTIONS


def main() -> None:
    if sys.argv[1:2] == ["--serve"]:
        serve_finetunings(int(sys.argv[2]), lambda arguments: job_of(parse(arguments))[0])
    elif (status := status_in_fork()) is not None:
        raise SystemExit(status)
    arguments = parse(sys.argv[1:])
    if not arguments.output.name.endswith(PREDICTIONS):
        raise PubmillError(f"--output is {arguments.output}; its name must end in {PREDICTIONS}")
    keep_private([arguments.model, arguments.dataset])
    fine_tune(arguments)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the program's arguments."""
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
    return parser.parse_args(arguments)


def job_of(arguments: argparse.Namespace) -> tuple[FinetuningJob, Mapping[str, Any], str | None]:
    """Return the job, the chosen values of its recipe, and why nothing could be chosen."""
    values, failed = read_choice(arguments.selected) if arguments.selected else ({}, None)
    recipe = recipes.read(recipes.FinetuningRecipe, arguments.recipe, values)
    dev = None if arguments.dev == "none" else arguments.dev
    job = FinetuningJob(recipe, arguments.model, arguments.dataset, arguments.seed, arguments.split, dev)
    return job, values, failed


def fine_tune(arguments: argparse.Namespace) -> None:
    """Train and predict, or record why nothing was trained; write the predictions and training.json."""
    job, values, failed = job_of(arguments)

    # Imported only after the arguments are checked: importing torch takes seconds.
    from pubmill.finetuning.run import finetune_or_fail, not_chosen, predict_kept, write_outcome

    if failed is not None:
        outcome = not_chosen(job, values, failed)
    else:
        outcome = predict_kept(job, arguments.kept) if arguments.kept else finetune_or_fail(job)
    write_outcome(outcome, job, arguments.output, arguments.keep)


if __name__ == "__main__":
    run(main)

"""Fine-tune a model on a dataset with one seed and predict one split.

    .venv/bin/python scripts/finetune.py --recipe JSON --model models/M --dataset datasets/D --seed 1 \\
        --split test --output RUNS/final/seed-1.predictions.jsonl.gz [--selected RUNS/selected.json]

Outputs: a prediction for each example of the split (pubmill/metrics/records.py has the forms); beside it,
seed-1.training.json with losses, dev scores and provenance; with --keep, the task model. A training that
would fail again, or that had no model or no choice, predicts null and ends with status 0. Errors that another
try may not meet (memory, disk, GPU) end with status 1. Needs only torch and transformers. The same command
gives the same predictions; on a GPU only with PUBMILL_DETERMINISTIC=1. In a run on one machine, it
runs in a fork of a process that loads torch, a model and its data once for all seeds; a kill ends its fork.
"""

import os
import sys
from collections.abc import Mapping
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, Literal

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("GOMP_SPINCOUNT", "1000")  # two runs on two cores take 1/6 of the time: pretrain.py

from pubmill import recipes
from pubmill.errors import PubmillError, run
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.shared_process import in_forks
from pubmill.finetuning.trial_selection import read_choice
from pubmill.recipes.programs import check_alternatives, program
from pubmill.storage.privacy import keep_private
from pubmill.storage.result_paths import PREDICTIONS


def main(
    recipe: Annotated[str, "FinetuningRecipe: JSON text or a JSON file"],
    model: Annotated[Path, "model folder"],
    dataset: Annotated[Path, "dataset folder (train, dev, test)"],
    seed: Annotated[int, "seed of the new layer, dropout and batches"],
    split: Annotated[Literal["dev", "test"], "split to predict"],
    output: Annotated[Path, f"predictions to write, NAME{PREDICTIONS}"],
    dev: Annotated[Literal["dev", "test", "none"], "split that selects the weights; none: the last"] = "dev",
    selected: Annotated[Path | None, "selected.json, whose values override the recipe"] = None,
    keep: Annotated[Path | None, "also write the task model to this folder"] = None,
    kept: Annotated[Path | None, "task model of the same run: predict with it, without training"] = None,
) -> None:
    """Train and predict, or record why nothing was trained; write the predictions and training.json."""
    if not output.name.endswith(PREDICTIONS):
        raise PubmillError(f"--output is {output}; its name must end in {PREDICTIONS}")
    check_alternatives(keep=keep, kept=kept)
    keep_private([model, dataset])
    job, values, failed = job_of(recipe, model, dataset, seed, split, dev, selected)

    # Imported only after the arguments are checked: importing torch takes seconds.
    from pubmill.finetuning.run import finetune_or_fail, not_chosen, predict_kept, write_outcome

    if failed is not None:
        outcome = not_chosen(job, values, failed)
    else:
        outcome = predict_kept(job, kept) if kept else finetune_or_fail(job)
    write_outcome(outcome, job, output, keep)


def job_of(
    recipe: str, model: Path, dataset: Path, seed: int, split: str, dev: str, selected: Path | None
) -> tuple[FinetuningJob, Mapping[str, Any], str | None]:
    """Return the job, the chosen values of its recipe, and why nothing could be chosen."""
    values, failed = read_choice(selected) if selected else ({}, None)
    resolved = recipes.read(recipes.FinetuningRecipe, recipe, values)
    return (
        FinetuningJob(resolved, model, dataset, seed, split, None if dev == "none" else dev),
        values,
        failed,
    )


@wraps(main)
def load(**arguments: Any) -> None:
    """Load what the job and its other seeds need."""
    from pubmill.finetuning.run import preload_inputs

    job, _, _ = job_of(**{name: arguments[name] for name in signature(job_of).parameters})
    preload_inputs(job)


if __name__ == "__main__":
    run(in_forks(program(main), program(load)))

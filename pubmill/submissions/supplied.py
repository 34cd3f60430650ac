"""Supplied predictions as files of a run, so that they are scored like those of fine-tuned models."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pubmill.hardware.provenance import provenance
from pubmill.recipes.submissions import SubmissionRecipe, SuppliedRecipe
from pubmill.storage.files import sha256
from pubmill.submissions.scores import examples_of
from pubmill.submissions.submission import Submission, read_submission, recipe_of, refuse_copies


def supply(
    recipe: SuppliedRecipe, path: Path, dataset: Path, others: Iterable[Path]
) -> tuple[Submission, SubmissionRecipe]:
    """Read supplied predictions for a converted dataset (its folder), compare them with those of other runs
    on it, and return them with what decided how they were read."""
    reading = recipe_of(dataset, recipe.system, None, recipe.mapping, recipe.dummies)
    submission = read_submission(path, reading, examples_of(dataset, reading), dataset.parent)
    refuse_copies(submission, path, others)
    return submission, reading


def report(
    submission: Submission, recipe: SubmissionRecipe, dataset: Path, model: str, seed: int
) -> dict[str, Any]:
    """Return the notes on a run in the form of a training's, although nothing was trained here."""
    assert recipe.system
    reading, examples = submission.reading, dataset / f"{recipe.split}.jsonl.gz"
    return {
        **provenance(),
        "recipe": {
            "task": recipe.kind,
            "negative": recipe.negative,
            "mapping": recipe.mapping,
            "system": asdict(recipe.system),
        },
        "dev": dict.fromkeys(("metric", "best_step", "best_epoch", "best")) | {"steps": [], "scores": []},
        "seed": seed,
        "split": recipe.split,
        "dev_split": None,
        "max_length": None,
        "model": model,
        "model_sha256": None,
        "data_sha256": {recipe.split: sha256(examples)},
        "encoded": {
            "spans": reading.spans,
            "unaligned_spans": len(reading.lost),
            "unmapped_answers": len(reading.unmapped),
        },
        "failed": None,
        "seconds": 0.0,
    }

"""Supplied predictions as files of a run, so that they are scored like those of fine-tuned models."""

from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.hardware.provenance import provenance
from pubmill.predictions.free_answers import asked_counts
from pubmill.predictions.predictions import answers_to_labels
from pubmill.predictions.scores import examples_of
from pubmill.predictions.submission import Submission, copied_from, read_submission, recipe_of
from pubmill.recipes.submissions import Price, SubmissionRecipe, SuppliedRecipe
from pubmill.storage.files import sha256


def supply(
    recipe: SuppliedRecipe, path: Path, dataset: Path, others: Iterable[Path]
) -> tuple[Submission, SubmissionRecipe]:
    """Read supplied predictions for a converted dataset (its folder), compare them with those of other runs
    on it, and return them with what decided how they were read."""
    reading = recipe_of(dataset, recipe.system, None, recipe.mapping, recipe.dummies)
    if recipe.asked:
        reading = replace(reading, mapping=answers_to_labels(reading) | recipe.mapping, asked=True)
    submission = read_submission(path, reading, examples_of(dataset, reading), dataset.parent)
    if other := copied_from(submission, others):
        raise PubmillError(
            f"{path}: exactly the predictions of {other}, which another column has. Two systems do not agree "
            "on everything: give the file of this system. Nothing was scored"
        )
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


def with_cost(
    notes: dict[str, Any], submission: Submission, answers: Path, price: Price | None
) -> dict[str, Any]:
    """Return the notes on a run with what its answers cost, and how many of them were cut off or name a text
    that occurs several times in the input; `price`: that of a million tokens, if it is stated."""
    recipe = notes["recipe"] | ({"price": asdict(price)} if price else {})
    counts = asked_counts(answers) | {"ambiguous_answers": submission.reading.by_rule["places"]}
    return {**notes, "recipe": recipe, "encoded": notes["encoded"] | counts}

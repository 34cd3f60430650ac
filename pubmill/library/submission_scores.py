"""Scores of other systems' predictions."""

from collections.abc import Mapping
from pathlib import Path

from pubmill.library.loaded_datasets import converted_folder
from pubmill.predictions.scores import ScoredSubmission, score_submission
from pubmill.predictions.submission import recipe_of
from pubmill.recipes.submissions import System
from pubmill.storage.privacy import keep_private


def score_predictions(
    predictions: str | Path,
    dataset: str,
    results: str | Path = "results/full",
    form: str | None = None,
    mapping: Mapping[str, str | None] | None = None,
    system: System | None = None,
    partial: bool = False,
) -> ScoredSubmission:
    """Score a file of predictions for a dataset converted in a results folder (docs/submissions.md).

    Raises `PubmillError` with the reason if the file is refused; then nothing of it is scored. `form`: by
    default recognised from the content. `mapping`: answer, label or type of the system -> label of the
    dataset, or None to leave a type out. `partial`: examples without a prediction are empty or wrong; by
    default a file that lacks some is refused. `system`: what predicted; required for credentialed
    datasets, with `local=True`. Texts with dummies, as in BLURB's tables of relations, are compared by
    `pubmill score` only, as the dummies are in the dataset's spec; here, leave the texts out.
    """
    folder = converted_folder(dataset, results)
    keep_private([folder])
    recipe = recipe_of(folder, system, form, dict(mapping or {}), partial=partial)
    return score_submission(Path(predictions), recipe, Path(results))

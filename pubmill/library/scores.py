"""Scores of predictions: in memory, and in files of other systems."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.examples.kinds import KINDS, Example, TokensExample
from pubmill.extras.submissions.scores import ScoredSubmission, score_submission
from pubmill.extras.submissions.submission import recipe_of
from pubmill.library.loaded_datasets import converted_folder
from pubmill.metrics import SCORERS
from pubmill.recipes.submissions import System
from pubmill.storage.privacy import keep_private

_BIO = re.compile(r"O|[BI](-\S+)?")
_KIND_OF = {example: kind for kind, example in KINDS.items()}


def score(
    examples: Iterable[Example], predictions: Sequence[Any], negative: str | None = None
) -> dict[str, float]:
    """Return every metric that is defined for these examples, as a fraction (0..1) or correlation.

    `predictions`: one for each example, in their order: BIO labels of the words (tokens), a label (sequence),
    a sorted list of labels (multilabel), a number (regression), or answers with probabilities, best first
    (span). `negative`: the label that micro F1 ignores. docs/finetuning.md defines the metrics.
    """
    gold = list(examples)
    if len(gold) != len(predictions):
        raise PubmillError(f"{len(gold)} examples but {len(predictions)} predictions; give one for each")
    kinds = {type(example) for example in gold}
    if len(kinds) != 1:
        raise PubmillError(f"examples of {len(kinds)} kinds; expected at least one example, all of one kind")
    if kinds == {TokensExample}:
        _check_labels(predictions)
    return SCORERS[_KIND_OF[kinds.pop()]](gold, predictions, negative).metrics


def _check_labels(predictions: Sequence[Sequence[str]]) -> None:
    for number, labels in enumerate(predictions):
        wrong = [label for label in labels if not _BIO.fullmatch(label)]
        if wrong:
            raise PubmillError(f"prediction {number}: {wrong[0]!r:.100} is none of O, B, I, B-TYPE, I-TYPE")


def score_predictions(
    predictions: str | Path,
    dataset: str,
    results: str | Path = "results/full",
    form: str | None = None,
    mapping: Mapping[str, str] | None = None,
    system: System | None = None,
) -> ScoredSubmission:
    """Score a file of predictions for a dataset converted in a results folder (docs/submissions.md).

    Raises `PubmillError` with the reason if the file is refused; then nothing of it is scored. `form`: by
    default recognised from the content. `mapping`: answer, label or type of the system -> label of the
    dataset. `system`: what predicted; required for credentialed datasets, with `local=True`. Texts with
    dummies, as in BLURB's tables of relations, are compared by `pubmill score` only, as the dummies are in
    the dataset's spec; here, leave the texts out.
    """
    folder = converted_folder(dataset, results)
    keep_private([folder])
    recipe = recipe_of(folder, system, form, dict(mapping or {}))
    return score_submission(Path(predictions), recipe, Path(results))

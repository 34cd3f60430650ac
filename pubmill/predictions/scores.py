"""Scores of a submission, outside of a study."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.examples.kinds import KINDS, Example, kept_examples
from pubmill.messages.quotations import show, withholding
from pubmill.metrics import SCORERS
from pubmill.metrics.records import checked_predictions
from pubmill.metrics.scorers import ScorerResult, score_by_all
from pubmill.predictions.free_answers import RULES
from pubmill.predictions.mapped_labels import ONE_ANSWER
from pubmill.predictions.ordered_form import order_of
from pubmill.predictions.submission import Submission, copied_from, read_submission, runs_on
from pubmill.recipes.submissions import SubmissionRecipe
from pubmill.storage.files import sha256, write_json, write_jsonl_gz
from pubmill.storage.privacy import PUBLIC, write_label_beside
from pubmill.storage.result_paths import PREDICTIONS

_LISTED = 10
MADE_UP = "made-up data of a demonstration: the scores say nothing of the published dataset, or of a system"


@dataclass(frozen=True)
class ScoredSubmission:
    """A scored submission: `metrics`, all that are defined (fractions or a correlation), `counts` of what
    they are computed from, and the predictions as they were read (`predicted`: in the form of metrics).
    `same_as`: a run's file of exactly these predictions; `made_up`: the dataset's files are not the published
    ones."""

    path: Path
    recipe: SubmissionRecipe
    examples: Sequence[Example]
    submission: Submission
    predicted: Sequence[Any]
    metrics: dict[str, float]
    counts: dict[str, int]
    same_as: Path | None = None
    made_up: bool = False

    def main_first(self) -> list[str]:
        """Return the names of the metrics, the dataset's main one first."""
        return sorted(self.metrics, key=lambda name: name != self.recipe.metric)

    def by_every_scorer(self, task: str) -> list[ScorerResult]:
        """Return the scores by every scorer of the literature that applies to a task."""
        recipe = self.recipe
        return score_by_all(recipe.kind, task, self.examples, self.predicted, recipe.negative)

    def summary(self) -> dict[str, Any]:
        """Return the scores, their dataset, system and form as JSON values, without text of the dataset."""
        recipe, reading = self.recipe, self.submission.reading
        return {
            **({"made_up": True} if self.made_up else {}),
            "dataset": recipe.dataset,
            "split": recipe.split,
            "system": asdict(recipe.system) if recipe.system else None,
            "form": self.submission.form,
            "order_sha256": order_of(self.examples) if recipe.order else None,
            "examples": len(self.examples),
            "without_prediction": reading.missing,
            "metric": recipe.metric,
            "metrics": self.metrics,
            "counts": self.counts,
            "unaligned": [[one.where, *one.span, one.why] for one in reading.lost],
            "unmapped": [where for where, _ in reading.unmapped],
            "left_out_by_mapping": dict(reading.dropped),
            "read_by_rule": {rule: number for rule, number in reading.by_rule.items() if number},
            "sha256": sha256(self.path),
        }

    def write(self, folder: Path, seed: int) -> None:
        """Write predictions in pubmill's own form, and scores."""
        name = folder / self.recipe.dataset / f"seed-{seed}"
        write_label_beside(Path(f"{name}.scores.json"))
        write_jsonl_gz(Path(f"{name}{PREDICTIONS}"), self.submission.lines)
        write_json(Path(f"{name}.scores.json"), self.summary())

    def left_aside(self) -> list[str]:
        """Return lines about made-up data, a run with the same predictions, and what cannot be placed or
        read."""
        reading, public = self.submission.reading, self.recipe.access == PUBLIC
        lines = [MADE_UP] if self.made_up else []
        lines += [f"exactly the predictions of {self.same_as}"] if self.same_as else []
        if reading.missing:
            effect = "count as wrong" if self.recipe.kind in ONE_ANSWER else "are empty"
            count = f"{reading.missing} of {len(self.examples)}"
            lines.append(f"{count} examples have no prediction, and {effect}")
        if reading.dropped:
            names = ", ".join(f"{show(name)} {number}" for name, number in reading.dropped.most_common())
            lines.append(f"left out, as the mapping says: {names}")
        if reading.lost:
            count = f"{len(reading.lost)} of {reading.spans}"
            lines.append(f"{count} spans fit no words, and count as false positives")
            lines += [f"  {one.where}: {one.span.start}-{one.span.end} {one.why}" for one in reading.lost]
        lines += [
            f"{number} of {len(self.examples)} answers {RULES[rule]}"
            for rule, number in sorted(reading.by_rule.items())
            if number
        ]
        if reading.unmapped:
            effect = "count as wrong"
            if self.recipe.kind in ("tokens", "mentions"):
                effect = "count as false positives if they have a type"
            lines.append(
                f"{len(reading.unmapped)} of {reading.answers} answers have no mapping, and {effect}"
            )
            with withholding(not public):
                lines += [f"  {where}: {show(' '.join(text.split()))}" for where, text in reading.unmapped]
        return lines

    def shown_left_aside(self) -> list[str]:
        """Return the first of these lines, for a terminal."""
        lines = self.left_aside()
        return [*lines[:_LISTED], *(["  ..."] if len(lines) > _LISTED else [])]


def examples_of(folder: Path, recipe: SubmissionRecipe) -> list[Example]:
    """Return the examples of the split that submissions predict."""
    examples = list(kept_examples(folder / f"{recipe.split}.jsonl.gz", KINDS[recipe.kind]))
    if not examples:
        raise PubmillError(f"{folder} has no examples of {recipe.split}; convert the dataset again")
    return examples


def score_submission(path: Path, recipe: SubmissionRecipe, results: Path) -> ScoredSubmission:
    """Score a file of predictions for a dataset converted in the results folder; a `PubmillError` says why a
    file is refused, and then nothing of it is scored."""
    datasets = results / "datasets"
    examples = examples_of(datasets / recipe.dataset, recipe)
    submission = read_submission(path, recipe, examples, datasets)
    same_as = copied_from(submission, runs_on(results, recipe.dataset))
    return replace(scored(path, recipe, examples, submission), same_as=same_as)


def scored(
    path: Path, recipe: SubmissionRecipe, examples: Sequence[Example], submission: Submission
) -> ScoredSubmission:
    predicted = checked_predictions(submission.lines, examples, str(path), "correct the file")
    scores = SCORERS[recipe.kind](examples, predicted, recipe.negative)
    return ScoredSubmission(path, recipe, examples, submission, predicted, scores.metrics, scores.counts)

"""Print the scores of predictions by every scorer of the literature; find the scorers behind a number."""

from collections.abc import Sequence
from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.examples.kinds import KINDS, read_examples
from pubmill.messages.terminal_tables import console, table
from pubmill.metrics.records import read_predictions
from pubmill.metrics.scorers import ScorerResult, matching, nearest, score_by_all
from pubmill.specs import DatasetSpec


def scores_by_scorer(dataset: DatasetSpec, examples: Path, predictions: Path) -> list[ScorerResult]:
    """Score predictions for a split, whose file is `examples`, by every scorer that applies."""
    gold = list(read_examples(examples, KINDS[dataset.kind]))
    if not gold:
        raise PubmillError(f"{examples} has no examples; convert the dataset again")
    predicted = read_predictions(predictions, gold)
    return score_by_all(dataset.kind, dataset.task, gold, predicted, dataset.negative)


def rows(scores: Sequence[ScorerResult]) -> list[dict[str, str | float | None]]:
    """Return the scores as JSON values."""
    return [
        {
            "scorer": one.scorer.name,
            "score": one.score,
            "definition": one.scorer.definition,
            "used": one.scorer.used,
        }
        for one in scores
    ]


def which(scores: Sequence[ScorerResult], printed: str) -> str:
    """Say by name which scorers give a printed number, or which is nearest if none does."""
    scorers = matching(scores, printed)
    if scorers:
        one_of = f"{len(scorers)} scorers give" if len(scorers) > 1 else "1 scorer gives"
        tied = ", and the number does not tell them apart" if len(scorers) > 1 else ""
        return f"{one_of} {printed}{tied}:\n" + "\n".join(map(_with_user, scorers))
    near = nearest(scores, printed)
    if near is None:
        return f"No scorer gives {printed}, as none is defined for these predictions."
    return f"No scorer gives {printed}. The nearest is\n{_with_user(near)}"


def percent(score: float | None) -> str:
    """Return a score in per cent; a dash where it is not defined."""
    return "-" if score is None else f"{100 * score:.2f}"


def _with_user(one: ScorerResult) -> str:
    return f"  {one.scorer.name} ({percent(one.score)}): {one.scorer.used}"


def print_scores(scores: Sequence[ScorerResult]) -> None:
    """Print the scorers with their scores; a dash stands for a score that is not defined."""
    made = table("scorer", "score", "what it is", "used by")
    for one in scores:
        made.add_row(one.scorer.name, percent(one.score), one.scorer.definition, one.scorer.used)
    console().print(made)

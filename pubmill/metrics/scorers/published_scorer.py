"""Published scorers: the ways in which the literature scores predictions, and the averages of F1 over labels
that several of them use."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

from pubmill.metrics.contributions import Scored
from pubmill.metrics.registry import metrics_of

Score = Callable[[Sequence[Any], Sequence[Any], str | None], float | None]
"""Function `(examples, predictions, negative)` that returns a score (0..1; a correlation -1..1), or None if
it is not defined for them."""


class Counts(NamedTuple):
    """Items in the gold, predicted, and both."""

    gold: int = 0
    predicted: int = 0
    correct: int = 0

    @property
    def precision(self) -> float:
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """F1; 0 without gold and predicted items, as in conlleval."""
        whole = self.gold + self.predicted
        return 2 * self.correct / whole if whole else 0.0


def total(parts: Iterable[Counts]) -> Counts:
    """Add the counts of all parts."""
    return Counts(*map(sum, zip(*parts, strict=True)))


@dataclass(frozen=True, slots=True)
class PublishedScorer:
    """A way of scoring examples of a kind, restricted to `tasks` if given. `used`: the paper section or the
    script that scores in this way; `score`: function that computes it."""

    name: str
    score: Score
    definition: str
    used: str
    tasks: tuple[str, ...] | None = None


class ScorerResult(NamedTuple):
    """The score of predictions by a scorer; None if it is not defined for them."""

    scorer: PublishedScorer
    score: float | None


def registered(
    kind: str, scorer: Callable[[Sequence[Any], Sequence[Any], str | None], Scored], used: Mapping[str, str]
) -> list[PublishedScorer]:
    """Return the registered metrics of a kind, which `scorer` computes, as scorers. `used`: who scores in
    this way, where that is more than a metric's source."""

    def score_by(name: str) -> Score:
        return lambda *scored: scorer(*scored).metrics.get(name)

    return [
        PublishedScorer(
            one.name, score_by(one.name), one.definition, used.get(one.name, one.source), one.tasks
        )
        for one in metrics_of(kind)
    ]


Tallies = Mapping[str, Counts]
"""Label -> its counts."""
Average = Callable[[Tallies], float | None]


def tallies_of(pairs: Iterable[tuple[str, str]]) -> dict[str, Counts]:
    """Return the counts of each label, from pairs of a gold and a predicted label."""
    return tallies_of_sets(({gold}, {predicted}) for gold, predicted in pairs)


def tallies_of_sets(pairs: Iterable[tuple[Collection[str], Collection[str]]]) -> dict[str, Counts]:
    """Return the counts of each label, from pairs of the gold and the predicted labels of an item."""
    tallies: dict[str, list[int]] = {}
    for gold, predicted in pairs:
        for label in {*gold, *predicted}:
            counts = tallies.setdefault(label, [0, 0, 0])
            counts[0] += label in gold
            counts[1] += label in predicted
            counts[2] += label in gold and label in predicted
    return {label: Counts(*counts) for label, counts in tallies.items()}


def without(label: str | None, tallies: Tallies) -> Tallies:
    """Leave a label out."""
    return {name: counts for name, counts in tallies.items() if name != label}


def micro(tallies: Tallies) -> float | None:
    """F1 over all labels together; not defined without labels."""
    return total(tallies.values()).f1 if tallies else None


def macro(tallies: Tallies) -> float | None:
    """Mean of the labels' F1; not defined without labels."""
    return fmean(counts.f1 for counts in tallies.values()) if tallies else None


def weighted(tallies: Tallies) -> float | None:
    """Mean of the labels' F1, weighted by how often they are in the gold; not defined without gold labels."""
    gold = total(tallies.values()).gold
    return sum(counts.gold * counts.f1 for counts in tallies.values()) / gold if gold else None


def of_means(tallies: Tallies) -> float | None:
    """F1 of the mean precision and the mean recall of the labels; not defined without labels."""
    if not tallies:
        return None
    precision, recall = (
        fmean(values)
        for values in zip(*((one.precision, one.recall) for one in tallies.values()), strict=True)
    )
    return harmonic_mean(precision, recall)


def harmonic_mean(precision: float, recall: float) -> float:
    """F1 of a precision and a recall; 0 if both are."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0

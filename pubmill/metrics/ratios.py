"""Precision, recall and F1 from counts, and means over classes."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tally:
    """Of one class, or of several taken together: how often it is in the gold, predicted, and both."""

    gold: int
    predicted: int
    correct: int

    def f1(self) -> float | None:
        """2 x correct / (gold + predicted), which is the harmonic mean of precision and recall where both
        are defined; None where there is neither gold nor prediction."""
        whole = self.gold + self.predicted
        return 2 * self.correct / whole if whole else None

    def counts(self) -> dict[str, int]:
        return {"gold": self.gold, "predicted": self.predicted, "correct": self.correct}


def ratio(part: float, whole: float) -> float:
    """0 without a denominator, as in conlleval and seqeval."""
    return part / whole if whole else 0.0


def together(classes: Iterable[Tally]) -> Tally:
    """Several classes taken together."""
    chosen = list(classes)
    return Tally(
        gold=sum(one.gold for one in chosen),
        predicted=sum(one.predicted for one in chosen),
        correct=sum(one.correct for one in chosen),
    )


def tallies(gold: Sequence[Iterable[str]], predicted: Sequence[Iterable[str]]) -> dict[str, Tally]:
    """The tally of each class that the examples have in the gold or predicted, in alphabetical order."""
    true: Counter[str] = Counter()
    given: Counter[str] = Counter()
    both: Counter[str] = Counter()
    for expected, found in zip(gold, predicted, strict=True):
        true.update(set(expected))
        given.update(set(found))
        both.update({*expected} & {*found})
    return {name: Tally(true[name], given[name], both[name]) for name in sorted({*true, *given})}


def macro_f1(classes: Iterable[Tally]) -> float | None:
    """The mean of the classes' F1; None of no classes. Each class must be in the gold or predicted."""
    scores = [score for one in classes if (score := one.f1()) is not None]
    return sum(scores) / len(scores) if scores else None


def defined(metrics: dict[str, float | None]) -> dict[str, float]:
    """The metrics without those that have no value."""
    return {name: value for name, value in metrics.items() if value is not None}

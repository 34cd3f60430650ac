"""Precision, recall and F1 from totals, and means over classes; of one test set or of many resamplings."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from pubmill.metrics.contributions import Array, Totals

COUNTS = ("gold", "predicted", "correct")

Place = tuple[Collection[str], Collection[str]]
"""The classes that something has in the gold and those that are predicted of it."""


class Tally(NamedTuple):
    """Of one class, or of several taken together: how often it is in the gold, predicted, and both."""

    gold: Array
    predicted: Array
    correct: Array

    def f1(self) -> Array:
        """2 x correct / (gold + predicted), which is the harmonic mean of precision and recall where both
        are defined; nan where there is neither gold nor prediction."""
        return quotient(2 * self.correct, self.gold + self.predicted)

    def present(self) -> Array:
        """1 where there is gold or a prediction, else 0."""
        return np.where(self.gold + self.predicted > 0, 1.0, 0.0)


def quotient(part: Array, whole: Array) -> Array:
    """nan without a denominator."""
    return _divided(part, whole, np.nan)


def ratio(part: Array, whole: Array) -> Array:
    """0 without a denominator, as in conlleval and seqeval."""
    return _divided(part, whole, 0.0)


def _divided(part: Array, whole: Array, otherwise: float) -> Array:
    quotients = np.full(np.shape(whole), otherwise)
    np.divide(part, whole, out=quotients, where=np.asarray(whole != 0))
    return quotients


def tally(family: str, examples: Sequence[Sequence[Place]]) -> dict[str, list[float]]:
    """What each example, a number of places, adds to the three counts of each class that there is;
    the columns are called `FAMILY:COUNT:CLASS`."""
    columns: defaultdict[str, list[float]] = defaultdict(lambda: [0.0] * len(examples))
    for number, places in enumerate(examples):
        for gold, predicted in places:
            if not gold and not predicted:
                continue
            both = {*gold} & {*predicted}
            for count, classes in zip(COUNTS, ({*gold}, {*predicted}, both), strict=True):
                for name in classes:
                    columns[f"{family}:{count}:{name}"][number] += 1
    return dict(sorted(columns.items()))


def tallies(totals: Totals, *families: str) -> list[Tally]:
    """The tally of each class of these families that the totals have."""
    parts = [name.split(":", 2) for name in totals if name.startswith(tuple(f"{f}:" for f in families))]
    none = np.zeros(shape(totals))
    return [
        Tally(*(totals.get(f"{family}:{count}:{name}", none) for count in COUNTS))
        for family, name in sorted({(family, name) for family, _, name in parts})
    ]


def pooled(classes: Sequence[Tally], totals: Totals) -> Tally:
    """Several classes taken together."""
    none = np.zeros(shape(totals))
    return Tally(*(sum((getattr(one, count) for one in classes), none) for count in COUNTS))


def mean_f1(classes: Sequence[Tally], counted: Sequence[Array], totals: Totals) -> Array:
    """The mean F1 of those classes that are `counted` (1, else 0), which have gold or a prediction; nan of
    none."""
    none = np.zeros(shape(totals))
    scores = sum((np.nan_to_num(one.f1()) * is_ for one, is_ in zip(classes, counted, strict=True)), none)
    return quotient(scores, sum(counted, none))


def shape(totals: Totals) -> tuple[int, ...]:
    """That of every total; there is at least one."""
    return np.shape(next(iter(totals.values())))

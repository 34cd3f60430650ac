"""The scores that one run can have on a test split of known size, as exact fractions.

A score is found by a search over whole numbers; no floating-point number is involved.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, product
from math import ceil, floor
from operator import attrgetter
from typing import NamedTuple

from pubmill.extras.audit.audit_recipes import ScoreCounts

RANKS = 60
"""The common denominator of the reciprocal ranks 1, 1/2, 1/3, 1/4 and 1/5."""
BELOW_FIRST = [
    (30 * second + 20 * third + 15 * fourth + 12 * fifth, second + third + fourth + fifth)
    for second, third, fourth, fifth in product(range(2), range(3), range(4), range(5))
]
"""Sums of reciprocal ranks below 1, in sixtieths, with their number of questions. More of one rank than
listed here (two halves, three thirds, ...) sum to 1, which fewer questions answered at rank 1 give too."""


class Interval(NamedTuple):
    """A closed interval of scores from 0 to 1."""

    low: Fraction
    high: Fraction

    def meets(self, other: "Interval") -> bool:
        """Return whether the intervals have a point in common."""
        return self.low <= other.high and other.low <= self.high


class Quotient(NamedTuple):
    """A score before reduction, such as 1226/1400."""

    part: int
    whole: int

    @property
    def value(self) -> Fraction:
        return Fraction(self.part, self.whole)

    def __str__(self) -> str:
        return f"{self.part}/{self.whole}"


Neighbours = tuple[Quotient | None, Quotient | None]
"""The last score below an interval and the first one above."""


def share_within(interval: Interval, total: int) -> Quotient | None:
    """Return a quotient k/total in the interval, None if there is none."""
    part = max(ceil(interval.low * total), 0)
    return Quotient(part, total) if part <= min(floor(interval.high * total), total) else None


def shares_beside(interval: Interval, total: int) -> Neighbours:
    """Return the quotients k/total around an interval that contains none."""
    below, above = ceil(interval.low * total) - 1, floor(interval.high * total) + 1
    return (
        Quotient(min(below, total), total) if below >= 0 else None,
        Quotient(max(above, 0), total) if above <= total else None,
    )


def reciprocal_ranks_within(interval: Interval, questions: int) -> Quotient | None:
    """Return a mean of reciprocal ranks of that many answers in the interval, None if there is none."""
    total = RANKS * questions
    parts = range(max(ceil(interval.low * total), 0), min(floor(interval.high * total), total) + 1)
    return next((Quotient(part, total) for part in parts if _is_sum_of_ranks(part, questions)), None)


def _is_sum_of_ranks(sixtieths: int, questions: int) -> bool:
    rests = ((sixtieths - total, count) for total, count in BELOW_FIRST)
    return any(
        rest >= 0 and rest % RANKS == 0 and count + rest // RANKS <= questions for rest, count in rests
    )


def f1_within(interval: Interval, gold: int, wrong: int | None) -> Quotient | None:
    """Return an F1 of one run, 2 tp / (gold + predicted), in the interval; None if there is none.

    tp is at most the number of gold items and at most that of predicted items; `wrong` bounds
    predicted - tp. Without gold or predicted items that are right, F1 is 0.
    """
    if interval.low <= 0 <= interval.high:
        return Quotient(0, gold)
    if interval.high < 0 or interval.low > 1:
        return None
    for whole in _wholes(interval, gold, wrong):
        fewest, most = _bounds(whole, gold, wrong)
        right = max(ceil(interval.low * whole / 2), fewest)
        if right <= min(floor(interval.high * whole / 2), most):
            return Quotient(2 * right, whole)
    return None


def f1_beside(interval: Interval, gold: int, wrong: int | None) -> Neighbours:
    """Return the F1 scores of one run around an interval that contains none."""
    near, value = f1_near(interval, gold, wrong), attrgetter("value")
    below = (one for one in near if one.value < interval.low)
    above = (one for one in near if one.value > interval.high)
    return max(below, key=value, default=None), min(above, key=value, default=None)


def f1_near(interval: Interval, gold: int, wrong: int | None) -> list[Quotient]:
    """Return F1 scores of one run outside the interval: for each number of predictions, the nearest ones."""
    scores = [Quotient(0, gold), Quotient(2 * gold, 2 * gold)]
    for whole in _wholes(interval, gold, wrong):
        fewest, most = _bounds(whole, gold, wrong)
        for right in (ceil(interval.low * whole / 2) - 1, floor(interval.high * whole / 2) + 1):
            if fewest <= right <= most:
                scores.append(Quotient(2 * right, whole))
    return scores


def _wholes(interval: Interval, gold: int, wrong: int | None) -> Iterator[int]:
    """Yield the sums of gold and predicted items with which an F1 may be near the interval, beginning with as
    many predicted as gold items, where scores are densest."""
    low = max(interval.low, Fraction(1, 10_000))
    first = max(gold, floor(gold / (1 - min(low, Fraction(1)) / 2)) - 1)
    last = ceil(2 * gold / low) + 1
    if wrong is not None:
        last = min(last, 2 * gold + wrong)
    middle = min(max(2 * gold, first), last)
    return chain(range(middle, last + 1), range(middle - 1, first - 1, -1))


def _bounds(whole: int, gold: int, wrong: int | None) -> tuple[int, int]:
    return 0 if wrong is None else max(whole - gold - wrong, 0), min(gold, whole - gold)


def highest_f1_below_one(gold: int, wrong: int | None) -> Fraction:
    """Return the highest F1 below 1: all gold items with one false positive, or all but one without."""
    return 1 - Fraction(1, 2 * gold - 1 if wrong == 0 else 2 * gold + 1)


def lowest_f1_above_zero(gold: int, wrong: int | None) -> Fraction:
    """Return a lower bound of all F1 above 0: one gold item found among as many wrong ones as possible."""
    return Fraction(0) if wrong is None else Fraction(2, gold + 1 + wrong)


def within(interval: Interval, score: ScoreCounts) -> Quotient | None:
    """Return a score of one run in the interval; None if none was found. The search is exhaustive but for
    `mean_f1`, where it tries runs whose classes all score in the interval."""
    if score.kind == "share":
        return share_within(interval, score.sizes[0])
    if score.kind == "reciprocal_rank":
        return reciprocal_ranks_within(interval, score.sizes[0])
    if score.kind == "correlation":
        return Quotient(1, 1) if interval.meets(Interval(Fraction(-1), Fraction(1))) else None
    scores = [f1_within(interval, gold, score.wrong) for gold in score.sizes]
    return scores[0] if all(scores) else None

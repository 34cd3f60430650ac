"""The scores of one run, against all of them for small test splits."""

from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

import pytest

from pubmill.extras.audit.attainable_scores import (
    Interval,
    Quotient,
    f1_beside,
    f1_within,
    highest_f1_below_one,
    lowest_f1_above_zero,
    reciprocal_ranks_within,
    share_within,
    shares_beside,
)

RANKS = [Fraction(0), *(Fraction(1, rank) for rank in range(1, 6))]


def f1_scores(gold: int, wrong: int) -> set[Fraction]:
    """Every F1 of one run, by its definition from tp, fp and fn."""
    counts = ((tp, fp, gold - tp) for tp in range(gold + 1) for fp in range(wrong + 1))
    return {Fraction(2 * tp, 2 * tp + fp + fn) for tp, fp, fn in counts}


def inside(interval: Interval, scores: set[Fraction]) -> set[Fraction]:
    return {score for score in scores if interval.low <= score <= interval.high}


def between_and_on(scores: set[Fraction]) -> list[Interval]:
    """Intervals whose ends are scores, or lie between two of them, or beyond the last."""
    known = [Fraction(-1, 4), *sorted(scores), Fraction(5, 4)]
    ends_ = sorted([*known, *((one + other) / 2 for one, other in pairwise(known))])
    return [Interval(low, high) for low, high in combinations_with_replacement(ends_, 2)]


def is_nearest_below_and_above(
    found: tuple[Quotient | None, Quotient | None], scores: set[Fraction], interval: Interval
) -> bool:
    below, above = (one and one.value for one in found)
    return (below, above) == (
        max((one for one in scores if one < interval.low), default=None),
        min((one for one in scores if one > interval.high), default=None),
    )


@pytest.mark.parametrize("total", [1, 2, 5, 12])
def test_shares_in_and_beside_every_interval(total: int) -> None:
    scores = {Fraction(part, total) for part in range(total + 1)}
    for interval in between_and_on(scores):
        found = share_within(interval, total)
        assert (found and found.value) == min(inside(interval, scores), default=None)
        if not found:
            assert is_nearest_below_and_above(shares_beside(interval, total), scores, interval), interval


@pytest.mark.parametrize("wrong", [0, 1, 2, 5])
@pytest.mark.parametrize("gold", [1, 2, 3, 6])
def test_f1_in_and_beside_every_interval(gold: int, wrong: int) -> None:
    scores = f1_scores(gold, wrong)
    for interval in between_and_on(scores):
        found = f1_within(interval, gold, wrong)
        assert (found is not None) == bool(inside(interval, scores)), interval
        assert found is None or found.value in inside(interval, scores)
        if not found and interval.low > 0:
            assert is_nearest_below_and_above(f1_beside(interval, gold, wrong), scores, interval), interval


@pytest.mark.parametrize("gold", [1, 2])
def test_without_a_bound_as_many_wrong_predictions_count_as_an_f1_allows(gold: int) -> None:
    """An F1 of at least 1/2 has at most two wrong predictions a gold item."""
    for interval in between_and_on({one for one in f1_scores(gold, 2 * gold) if one >= Fraction(1, 2)}):
        if interval.low > Fraction(1, 2):
            assert f1_within(interval, gold, None) == f1_within(interval, gold, 2 * gold)
            assert f1_beside(interval, gold, None)[1] == f1_beside(interval, gold, 2 * gold)[1]


@pytest.mark.parametrize("questions", [1, 2, 3])
def test_reciprocal_ranks_in_every_interval(questions: int) -> None:
    answers = combinations_with_replacement(RANKS, questions)
    scores = {sum(ranks, Fraction(0)) / questions for ranks in answers}
    for interval in between_and_on(scores):
        found = reciprocal_ranks_within(interval, questions)
        assert (found and found.value) == min(inside(interval, scores), default=None)
        assert found is None or found.whole == 60 * questions


def test_intervals_that_touch_have_a_point_in_common() -> None:
    low, middle, high = Fraction(0), Fraction(1, 2), Fraction(1)
    assert Interval(low, middle).meets(Interval(middle, high))
    assert Interval(middle, high).meets(Interval(low, middle))
    assert not Interval(low, Fraction(1, 3)).meets(Interval(middle, high))
    assert not Interval(middle, high).meets(Interval(low, Fraction(1, 3)))


def test_the_gaps_at_the_ends_of_f1_are_those_of_one_error() -> None:
    """With any number of wrong predictions 2n/(2n+1) is the last F1 below 1; without any, 2(n-1)/(2n-1)."""
    for gold in (2, 3, 7):
        assert (
            highest_f1_below_one(gold, 5) == highest_f1_below_one(gold, None) == max(f1_scores(gold, 5) - {1})
        )
        assert highest_f1_below_one(gold, 0) == max(f1_scores(gold, 0) - {1})
        assert lowest_f1_above_zero(gold, 3) == min(f1_scores(gold, 3) - {0})
        assert lowest_f1_above_zero(gold, None) == 0

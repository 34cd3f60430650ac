"""The scores of one run, against all of them for small test splits."""

from fractions import Fraction
from itertools import combinations_with_replacement

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.statistics.attainable_scores import (
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
ends = st.fractions(min_value=Fraction(-1, 10), max_value=Fraction(11, 10), max_denominator=400)
intervals = st.tuples(ends, ends).map(lambda pair: Interval(min(pair), max(pair)))


def f1_scores(gold: int, wrong: int) -> set[Fraction]:
    """Every F1 of one run, by its definition from tp, fp and fn."""
    counts = ((tp, fp, gold - tp) for tp in range(gold + 1) for fp in range(wrong + 1))
    return {Fraction(2 * tp, 2 * tp + fp + fn) for tp, fp, fn in counts}


def inside(interval: Interval, scores: set[Fraction]) -> set[Fraction]:
    return {score for score in scores if interval.low <= score <= interval.high}


@given(intervals, st.integers(1, 12), st.integers(0, 9))
def test_f1_is_found_if_and_only_if_some_counts_give_it(interval: Interval, gold: int, wrong: int) -> None:
    known = inside(interval, f1_scores(gold, wrong))
    found = f1_within(interval, gold, wrong)
    assert (found is not None) == bool(known)
    assert found is None or found.value in known


@given(intervals, st.integers(1, 12), st.integers(0, 9))
def test_the_f1_beside_an_empty_interval_are_the_nearest(interval: Interval, gold: int, wrong: int) -> None:
    scores = f1_scores(gold, wrong)
    if interval.low <= Fraction(1, 100) or inside(interval, scores):
        return
    below, above = f1_beside(interval, gold, wrong)
    assert (below and below.value) == max((one for one in scores if one < interval.low), default=None)
    assert (above and above.value) == min((one for one in scores if one > interval.high), default=None)


@given(st.integers(1, 12), st.integers(0, 9))
def test_the_gaps_at_the_ends_of_f1(gold: int, wrong: int) -> None:
    scores = f1_scores(gold, wrong)
    assert highest_f1_below_one(gold, wrong) >= max(one for one in scores if one < 1)
    assert lowest_f1_above_zero(gold, wrong) <= min(one for one in scores if one > 0)
    assert lowest_f1_above_zero(gold, None) == 0


@pytest.mark.parametrize("questions", [1, 2, 3, 4])
def test_sums_of_reciprocal_ranks(questions: int) -> None:
    known = {sum(ranks) / questions for ranks in combinations_with_replacement(RANKS, questions)}
    for part in range(60 * questions + 2):
        score = Fraction(part, 60 * questions)
        found = reciprocal_ranks_within(Interval(score, score), questions)
        assert (found is not None) == (score in known), score


@given(intervals, st.integers(1, 40))
def test_shares(interval: Interval, total: int) -> None:
    scores = {Fraction(part, total) for part in range(total + 1)}
    known, found = inside(interval, scores), share_within(interval, total)
    assert (found and found.value) == min(known, default=None)
    if not known:
        below, above = shares_beside(interval, total)
        assert (below and below.value) == max((one for one in scores if one < interval.low), default=None)
        assert (above and above.value) == min((one for one in scores if one > interval.high), default=None)


def test_a_quotient_is_shown_as_it_was_counted() -> None:
    assert str(Quotient(1226, 1400)) == "1226/1400" and Quotient(2, 4).value == Fraction(1, 2)

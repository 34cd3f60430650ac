"""Whether a printed score can be: against all runs of small test splits, and GRIM."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubmill.errors import PubmillError
from pubmill.extras.audit import reachability as reach
from pubmill.extras.audit.attainable_scores import Interval
from pubmill.extras.audit.audit_recipes import Over, ScoreCounts
from tests.unit.extras.audit.test_attainable_scores import f1_scores

OVER: dict[Over, Callable[[tuple[Fraction, ...]], Fraction]] = {
    "mean": lambda runs: sum(runs, Fraction(0)) / len(runs),
    "median": lambda runs: Fraction(median(runs)),
    "max": max,
}


def share(size: int) -> tuple[ScoreCounts, ...]:
    return (ScoreCounts(kind="share", sizes=(size,)),)


def f1(gold: int, wrong: int | None = None) -> tuple[ScoreCounts, ...]:
    return (ScoreCounts(kind="f1", sizes=(gold,), wrong=wrong),)


def is_known(
    printed: str, scores: tuple[ScoreCounts, ...], runs: int = 1, over: Over = "mean"
) -> bool | None:
    return reach.is_reachable(reach.rounding_interval(printed), scores, runs, over)


def all_scores(one_run: set[Fraction], runs: int, over: Over) -> set[Fraction]:
    return {OVER[over](some) for some in combinations_with_replacement(sorted(one_run), runs)}


printed = st.tuples(st.integers(0, 100), st.integers(0, 99)).map(lambda parts: f"{parts[0]}.{parts[1]:02}")


@pytest.mark.parametrize("over", OVER)
@given(printed, st.integers(1, 12), st.integers(1, 4))
def test_shares_agree_with_all_runs(over: Over, number: str, size: int, runs: int) -> None:
    interval = reach.rounding_interval(number)
    every = all_scores({Fraction(part, size) for part in range(size + 1)}, runs, over)
    known = any(interval.low <= one <= interval.high for one in every)
    assert reach.is_reachable(interval, share(size), runs, over) is known


@pytest.mark.parametrize("over", OVER)
@settings(max_examples=60, deadline=None)
@given(printed, st.integers(1, 4), st.integers(0, 3), st.integers(1, 3))
def test_f1_never_contradicts_all_runs(over: Over, number: str, gold: int, wrong: int, runs: int) -> None:
    """The search may leave means of unequal runs undecided; what it decides is right."""
    interval = reach.rounding_interval(number)
    every = all_scores(f1_scores(gold, wrong), runs, over)
    found = reach.is_reachable(interval, f1(gold, wrong), runs, over)
    known = any(interval.low <= one <= interval.high for one in every)
    assert found is known or (found is None and over != "max" and runs > 1)


def test_both_ends_of_the_rounding_interval_belong_to_it() -> None:
    assert reach.rounding_interval("12.5") == Interval(Fraction(1245, 10_000), Fraction(1255, 10_000))
    assert is_known("12", share(8)) and is_known("13", share(8)) and not is_known("14", share(8))
    assert reach.truncation_interval("12.5") == Interval(Fraction(125, 1000), Fraction(126, 1000))


def test_a_median_is_one_run_or_the_mean_of_two() -> None:
    assert is_known("50.0", share(3), 4, "median") and not is_known("50.0", share(3), 5, "median")
    assert is_known("85.2", (*f1(27, 10), *f1(26, 9)), 45, "median")
    assert is_known("85.0", (*f1(27, 10), *f1(26, 9)), 45, "median") is False
    assert is_known("85.0", (*f1(27, 10), *f1(26, 9)), 44, "median") is None


def test_other_kinds_of_scores() -> None:
    macro = (ScoreCounts(kind="mean_f1", sizes=(4711, 3563, 8090)),)
    few = (ScoreCounts(kind="mean_f1", sizes=(2, 3), wrong=1),)
    correlation = (ScoreCounts(kind="correlation"),)
    ranks = (ScoreCounts(kind="reciprocal_rank", sizes=(2,)),)
    assert is_known("73.38", macro, 5) and is_known("73.38", few) is None
    assert is_known("-12.3", correlation) and is_known("100.2", correlation) is False
    assert is_known("101", correlation, 3) is False and is_known("-101", correlation, 3) is False
    assert is_known("91.7", ranks) is False and is_known("75.0", ranks) and is_known("87.5", ranks, 2)


def test_the_ends_of_f1_over_runs() -> None:
    """Between 1 and the next F1, only means of unequal runs are left."""
    assert is_known("99.99", f1(26), 5) is False and is_known("100.00", f1(26), 5)
    assert is_known("99.6", f1(26), 5) and is_known("101", f1(26), 5) is False
    assert is_known("0.01", f1(26, 5), 2) is False and is_known("-1", f1(26), 2) is False


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100)), min_size=1, max_size=5))
def test_mean_f1_is_in_the_interval_of_mean_precision_and_recall(runs: list[tuple[int, int]]) -> None:
    pairs = [(Fraction(p, 100), Fraction(r, 100)) for p, r in runs]
    means = [sum(side, Fraction(0)) / len(runs) for side in zip(*pairs, strict=True)]
    score = sum((reach.harmonic_mean(p, r) for p, r in pairs), Fraction(0)) / len(runs)
    possible = reach.f1_of_means(*(Interval(mean, mean) for mean in means))
    assert possible.low <= score <= possible.high


def test_chance() -> None:
    """Of 0 to 9 hundredths of 50 items: 50.0, 50.1 ... with one decimal only even tens are k/50."""
    assert reach.chance("87.56", share(140), 10, "mean") == (14, 100)
    assert reach.chance("87.561234", share(140), 10, "mean") == (14, 1000)
    assert reach.chance("50", share(2), 1, "mean") == (1, 1)
    assert reach.chance("33", share(2), 1, "mean") == (0, 1)
    assert reach.chance("50.0", share(2), 1, "mean") == (1, 10)
    assert reach.reachable_share(f1(1), 2, "mean", 0, 80) == (1, 1), "what is not decided may be reachable"


@pytest.mark.parametrize("text", ["", "8,5", "87.", "nan", "1e5", "-", "0x1", "१", "1" * 10])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(PubmillError, match="is not a printed score; expected digits"):
        reach.printed_number(text)


def test_numbers_of_runs_that_reach_a_score() -> None:
    """1/6 of three items needs two runs of a mean, or an even number of a median; no maximum reaches it."""
    sixth = reach.rounding_interval("16.67")
    assert reach.fewest_runs(sixth, share(3), "mean") == reach.nearest_runs(sixth, share(3), 1, "mean") == 2
    assert reach.nearest_runs(sixth, share(3), 5, "mean") == 4, "the smaller one of two"
    assert reach.nearest_runs(sixth, share(3), 2, "mean") == 4, "another one than the stated"
    assert (
        reach.fewest_runs(sixth, share(3), "median") == reach.nearest_runs(sixth, share(3), 9, "median") == 2
    )
    assert reach.fewest_runs(sixth, share(3), "max") is None
    assert reach.nearest_runs(Interval(Fraction(2), Fraction(2)), share(3), 3, "mean") is None


def test_folds_that_are_scored_together() -> None:
    """A mean is reachable for sure if each fold can have it; a maximum if some fold can."""
    half = reach.rounding_interval("50.00")
    assert reach.is_reachable(half, (*share(2), *share(4)), 1, "mean") is True
    assert reach.is_reachable(half, (*share(2), *share(3)), 2, "mean") is None
    assert reach.is_reachable(half, (*share(2), *share(3)), 2, "max") is True
    assert reach.is_reachable(half, (*share(5), *share(3)), 2, "max") is False
    assert reach.is_reachable(half, (*share(5), *share(3)), 2, "median") is None


def test_an_f1_of_means_lies_between_one_and_nothing() -> None:
    """With precision and recall of 1/2 and less, no F1 above 0 is certain; rounding gives more than 1."""
    low = reach.f1_of_means(
        Interval(Fraction(1, 4), Fraction(1, 2)), Interval(Fraction(1, 2), Fraction(1, 2))
    )
    assert low == Interval(Fraction(0), Fraction(1, 2))
    high = reach.f1_of_means(*[Interval(Fraction(9, 10), Fraction(21, 20))] * 2)
    assert high == Interval(Fraction(8, 10), Fraction(1))
    assert reach.harmonic_mean(Fraction(1, 2), Fraction(1, 4)) == Fraction(1, 3)

"""Whether a printed score can be: against all runs of small test splits, and in words."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise
from statistics import median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubmill.errors import PubmillError
from pubmill.extras.audit import reachability as reach
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
from pubmill.extras.audit.audit_recipes import Over, ScoreCounts, ScoreKind
from pubmill.extras.audit.reachability import Reading, arithmetic, changes, printed_range, report

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


def reading(kind: ScoreKind, *sizes: int, runs: int = 1, over: Over = "mean") -> Reading:
    return Reading((ScoreCounts(kind=kind, sizes=sizes),), runs, over)


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (reading("share", 140, runs=10), "mean of 10 runs of k/140, which is k/1400"),
        (reading("share", 140, runs=5, over="median"), "median of 5 runs of k/140"),
        (reading("f1", 960), "one run of an F1 with 960 gold items"),
        (reading("mean_f1", 3, 4, runs=2), "mean of 2 runs of a mean of F1 with 3, 4 gold items"),
        (reading("reciprocal_rank", 162), "one run of the mean reciprocal rank of 162 questions"),
        (Reading((ScoreCounts(kind="correlation"),), 10, "mean"), "mean of 10 runs of a correlation"),
    ],
)
def test_readings(read: Reading, text: str) -> None:
    assert read.text == text


def test_the_other_ways_to_print_a_score() -> None:
    """2/3 is 66.67 rounded and 66.66 cut off; 66.66 is also the mean of runs that are rounded first."""
    assert "reachable if cut off" in arithmetic("66.66", reading("share", 3))
    assert "; not reachable if cut off" in arithmetic("66.65", reading("share", 3))
    tenfold = reading("share", 140, runs=10)
    assert arithmetic("74.22", tenfold).endswith("not excluded if each run was rounded first")
    assert arithmetic("87.56", tenfold).endswith("not reachable if each run was rounded first")
    # 11/21 is 52.381: outside of 52.385 to 52.395, inside of 52.38 to 52.40.
    assert "not excluded if each" in arithmetic("52.39", reading("share", 7, runs=3))
    assert "rounded first" not in arithmetic("66.65", reading("share", 3))
    assert "not reachable if cut off" in arithmetic("49", reading("share", 2)), "1/2 cut off is 50"
    # 168/503 is 33.39960..., and 167/503 is below 33.3.
    assert "; reachable if cut off" in arithmetic("33.3", reading("share", 503))


@pytest.mark.parametrize(
    ("read", "printed", "text"),
    [
        (
            reading("share", 140, runs=10),
            "76.41",
            "at least 31 runs on the same 140 items, or with the same runs on 142",
        ),
        (reading("f1", 27), "85.0", "at least 2 runs on the same 27 gold items, or with the same runs on 23"),
        (
            reading("reciprocal_rank", 2, runs=3, over="max"),
            "91.7",
            "reachable with the same runs on 6 instead of 2 questions",
        ),
        (
            reading("f1", 27, runs=5, over="median"),
            "85.0",
            "reachable with 2 runs on the same 27 gold items, or with the same runs on 23 instead of "
            "27 gold items",
        ),
        (reading("share", 3, runs=2), "33.33", "reachable with 1 run on the same 3 items"),
        (reading("share", 3), "101", "no change tried makes it reachable"),
    ],
)
def test_smallest_changes(read: Reading, printed: str, text: str) -> None:
    assert text in changes(printed, read)


def test_the_numbers_as_which_scores_of_an_interval_may_be_printed() -> None:
    assert printed_range(reach.rounding_interval("65.0"), "65.2") == ("64.9", "65.1")
    assert printed_range(reach.rounding_interval("-1.0"), "-0.93") == ("-1.05", "-0.95")


def test_reports() -> None:
    assert report("85.2", "f1", 27, 1, "mean").splitlines() == [
        "85.2: reachable", "read as: one run of an F1 with 27 gold items",
        "reachable by chance: 3 of 10 numbers with the same whole part",
    ]  # fmt: skip
    assert report("87.56", "accuracy", 140, 10, "mean").splitlines() == [
        "87.56: unreachable under the stated protocol",
        "read as: mean of 10 runs of k/140, which is k/1400",
        "reachable by chance: 14 of 100 numbers with the same whole part",
        "arithmetic: the nearest scores are 1225/1400 = 87.5000 and 1226/1400 = 87.5714; not reachable if "
        "cut off instead of rounded; not reachable if each run was rounded first",
        "smallest change: reachable with at least 12 runs on the same 140 items, or with the same runs on "
        "135 instead of 140 items",
    ]
    assert "not decided" in report("80.00", "f1", 1, 2, "mean")


def test_scores_beside_are_named_where_they_are_known() -> None:
    """Of F1 those of one run, of shares those of all runs together, of other scores none."""
    one, several = (reading("f1", 27, runs=runs, over="median") for runs in (1, 5))
    assert arithmetic("85.0", one).startswith("the nearest scores are 50/59 = 84.746 and 40/47 = 85.106;")
    assert arithmetic("85.0", several).startswith("the nearest scores of one run are 50/59 = 84.746 and")
    two = reading("f1", 27, runs=2, over="max")
    assert arithmetic("85.0", two).startswith("the nearest scores of one run are ")
    assert arithmetic("101", reading("share", 3)).startswith("the nearest scores are 3/3 = 100.00; not")
    ranks = reading("reciprocal_rank", 2, runs=3, over="max")
    assert arithmetic("91.7", ranks) == "not reachable if cut off instead of rounded"
    folds = Reading((*reading("f1", 26).scores, *reading("f1", 27).scores), 1, "max")
    assert arithmetic("84.9", folds) == "not reachable if cut off instead of rounded"


@pytest.mark.parametrize(("size", "runs"), [(0, 1), (1, 0)])
def test_sizes_and_runs_are_at_least_one(size: int, runs: int) -> None:
    with pytest.raises(PubmillError, match=f"must be at least 1, found {size} and {runs}"):
        report("50", "accuracy", size, runs, "mean")
    assert report("100", "accuracy", 1, 1, "mean").startswith("100: reachable")

"""The arithmetic behind verdicts, in words."""

import pytest

from pubmill.errors import PubmillError
from pubmill.extras.audit import reachability as reach
from pubmill.extras.audit.audit_recipes import Over, ScoreCounts, ScoreKind
from pubmill.extras.audit.reachability import Reading, arithmetic, changes, printed_range, report


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

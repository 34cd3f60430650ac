"""Scores by parts, as text."""

from pubmill.extras.overlap.overlap_of_runs import Overlap
from pubmill.extras.overlap.overlap_text import as_text
from pubmill.metrics.training_overlap import Counts


def rows(**parts: Counts) -> list[list[str]]:
    """Return the cells of each line of a dataset's parts."""
    text = as_text(Overlap("bc2gm", ("train",), 2, {"by mention": parts}))
    first, blank, heading, *lines = text.splitlines()
    assert (first, blank) == ("bc2gm, 2 runs, compared with train", "")
    assert heading.split() == "by mention gold share predicted correct precision recall F1".split()
    return [line.split() for line in lines]


def test_each_part_has_its_share_of_the_gold_items() -> None:
    assert rows(known=Counts(6, 4, 3), new=Counts(2, 4, 1)) == [
        ["known", "6", "75.0", "%", "4", "3", "75.00", "50.00", "60.00"],
        ["new", "2", "25.0", "%", "4", "1", "25.00", "50.00", "33.33"],
        ["together", "8", "100.0", "%", "8", "4", "50.00", "50.00", "50.00"],
    ]


def test_without_gold_items_all_shares_are_0() -> None:
    nothing = ["0.00", "0.00", "0.00"]
    assert rows(known=Counts(0, 3, 0)) == [
        ["known", "0", "0.0", "%", "3", "0", *nothing],
        ["together", "0", "0.0", "%", "3", "0", *nothing],
    ]


def test_a_single_run_is_one_run() -> None:
    assert as_text(Overlap("x", ("train", "dev"), 1, {})) == "x, 1 run, compared with train and dev"

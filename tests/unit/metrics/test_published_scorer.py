"""Averages of F1 over labels: their values, and where they are not defined."""

import pytest

from pubmill.metrics.scorers.published_scorer import (
    Average,
    harmonic_mean,
    macro,
    micro,
    of_means,
    tallies_of,
    tallies_of_sets,
    weighted,
    without,
)

PAIRS = [("a", "a"), ("a", "a"), ("a", "b"), ("b", "b"), ("c", "a")]
"""Counts of gold, predicted and correct: a 3, 3, 2; b 1, 2, 1; c 1, 0, 0."""


@pytest.mark.parametrize(
    ("average", "expected"),
    [
        (micro, 3 / 5),
        (macro, (2 / 3 + 2 / 3 + 0) / 3),
        (weighted, (3 * 2 / 3 + 1 * 2 / 3 + 0) / 5),
        (of_means, 2 * (7 / 18) * (5 / 9) / (7 / 18 + 5 / 9)),  # precisions 2/3, 1/2, 0; recalls 2/3, 1, 0
    ],
)
def test_averages_of_labels(average: Average, expected: float) -> None:
    assert average(tallies_of(PAIRS)) == pytest.approx(expected)
    assert average({}) is None


def test_the_weighted_average_needs_gold_labels_and_the_others_any() -> None:
    predicted_only = tallies_of_sets([([], ["a"])])
    assert weighted(predicted_only) is None
    assert [average(predicted_only) for average in (micro, macro, of_means)] == [0.0, 0.0, 0.0]


def test_a_label_is_left_out_with_its_counts() -> None:
    assert without("a", tallies_of(PAIRS)).keys() == {"b", "c"}
    assert without(None, tallies_of(PAIRS)) == tallies_of(PAIRS)


@pytest.mark.parametrize(
    ("precision", "recall", "expected"),
    [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.5, 1.0, 2 / 3), (0.5, 0.5, 0.5)],
)
def test_f1_is_the_harmonic_mean_and_0_of_nothing(precision: float, recall: float, expected: float) -> None:
    assert harmonic_mean(precision, recall) == pytest.approx(expected)

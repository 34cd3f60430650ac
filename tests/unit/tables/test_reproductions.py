"""CV*: by hand, and by the moments of more scores."""

import math

import pytest

from pubmill.tables.reproductions import unbiased_cv


def test_two_scores_by_hand() -> None:
    """The standard deviation of two scores is |a - b| / sqrt(2), and c4(2) is sqrt(2 / pi)."""
    assert unbiased_cv([80.0, 82.0]) == pytest.approx(100 * 9 / 8 * math.sqrt(math.pi) / 2 * 2 / 81)
    assert unbiased_cv([70.0, 70.0]) == 0


def test_more_scores_by_their_moments() -> None:
    """Of 1 to 4: variance 5/3, mean 2.5, c4(4) = 2 sqrt(2 / (3 pi)), in tables of control charts 0.921318."""
    c4 = 2 * math.sqrt(2 / (3 * math.pi))
    assert unbiased_cv([1, 2, 3, 4]) == pytest.approx(100 * 17 / 16 * math.sqrt(5 / 3) / c4 / 2.5)
    assert unbiased_cv([10, 20, 30, 40]) == pytest.approx(unbiased_cv([1, 2, 3, 4]))


@pytest.mark.parametrize("scores", [[80.0], [-1.0, 1.0], [-3.0, -2.0]])
def test_scores_without_a_cv(scores: list[float]) -> None:
    with pytest.raises(ValueError, match="mean above 0"):
        unbiased_cv(scores)

"""The learning-rate schedules, step by step."""

import pytest

from pubmill.optimisers.learning_rates import stable, triangle


@pytest.mark.parametrize(
    ("steps", "rising", "top", "expected"),
    [
        (6, 2, 1, [1 / 2, 1, 4 / 5, 3 / 5, 2 / 5, 1 / 5]),  # pretraining: the peak at one step
        (6, 2, 2, [1 / 2, 1, 1, 3 / 4, 2 / 4, 1 / 4]),  # fine-tuning: for one more step
        (6, 2.5, 2.5, [1 / 2.5, 2 / 2.5, 1, 3 / 3.5, 2 / 3.5, 1 / 3.5]),
        (4, 0, 0, [1, 3 / 4, 2 / 4, 1 / 4]),
    ],
)
def test_a_rate_rises_and_falls(steps: int, rising: float, top: float, expected: list[float]) -> None:
    found = [part / whole for part, whole in (triangle(step, steps, rising, top) for step in range(steps))]
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("steps", "rising", "falling", "last", "root", "expected"),
    [
        (8, 2, 4, 0.0, False, [1 / 2, 1, 1, 1, 1, 3 / 4, 2 / 4, 1 / 4]),
        (6, 1, 4, 0.2, False, [1, 1, 1, 0.8, 0.6, 0.4]),
        (6, 0, 4, 0.0, True, [1, 1, 1, 0.5, 1 - 0.5**0.5, 1 - 0.75**0.5]),
        (6, 0, 4, 0.5, True, [1, 1, 1, 0.75, 1 - 0.5**1.5, 1 - 0.5 * 0.75**0.5]),
        (4, 2, 0, 0.0, False, [1 / 2, 1, 1, 1]),
    ],
)
def test_a_stable_rate_rises_stays_and_falls(
    steps: int, rising: int, falling: int, last: float, root: bool, expected: list[float]
) -> None:
    found = [stable(step, steps, rising, falling, last, root) for step in range(steps)]
    assert found == pytest.approx(expected)
    assert stable(steps, steps, rising, 0, last, root) == 1  # without a fall

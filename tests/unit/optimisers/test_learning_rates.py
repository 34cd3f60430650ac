"""The learning-rate schedule, step by step, and the memory that optimisers are planned with."""

import pytest

from pubmill.optimisers import OPTIMISERS, Optimiser
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


def test_without_a_fall_the_rate_stays_at_its_peak() -> None:
    assert stable(4, 4, 2, 0, 0.0, root=False) == 1
    assert stable(5, 4, 2, 0, 0.25, root=False) == 0.25


@pytest.mark.parametrize("name", OPTIMISERS)
def test_two_moments_per_weight_are_kept_in_float32(name: str) -> None:
    """Their count of steps is one number for a whole weight matrix, and free."""
    made = OPTIMISERS[name]
    assert (made.state_bytes, made.checkpoint_bytes, made.training_bytes) == (8, 12, 20)


def test_a_state_without_a_count_of_steps_is_all_of_the_size_of_the_weights() -> None:
    assert Optimiser(kind="torch.optim:SGD", state=("momentum_buffer",)).training_bytes == 16
    assert Optimiser(kind="torch.optim:SGD", state=()).checkpoint_bytes == 4

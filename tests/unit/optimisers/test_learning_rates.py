"""The learning-rate schedule, step by step, and the memory that optimisers are planned with."""

import pytest

from pubmill.optimisers import OPTIMISERS, Optimiser
from pubmill.optimisers.learning_rates import triangle


def shares(steps: int, rising: float, top: float) -> list[float]:
    return [part / whole for part, whole in (triangle(step, steps, rising, top) for step in range(steps))]


def test_pretraining_reaches_its_peak_at_one_step() -> None:
    assert shares(6, 2, 1) == pytest.approx([1 / 2, 1, 4 / 5, 3 / 5, 2 / 5, 1 / 5])


def test_fine_tuning_stays_at_its_peak_for_one_more_step() -> None:
    assert shares(6, 2, 2) == pytest.approx([1 / 2, 1, 1, 3 / 4, 2 / 4, 1 / 4])


def test_without_warmup_the_first_step_has_the_peak() -> None:
    assert shares(4, 0, 0) == pytest.approx([1, 3 / 4, 2 / 4, 1 / 4])


@pytest.mark.parametrize("name", OPTIMISERS)
def test_two_moments_per_weight_are_kept_in_float32(name: str) -> None:
    """Their count of steps is one number for a whole weight matrix, and free."""
    made = OPTIMISERS[name]
    assert (made.state_bytes, made.checkpoint_bytes, made.training_bytes) == (8, 12, 20)


def test_a_state_without_a_count_of_steps_is_all_of_the_size_of_the_weights() -> None:
    assert Optimiser(kind="torch.optim:SGD", state=("momentum_buffer",)).training_bytes == 16
    assert Optimiser(kind="torch.optim:SGD", state=()).checkpoint_bytes == 4

"""The learning-rate schedule, step by step, and the memory that optimisers are planned with."""

import pytest

from pubmill.optimisers import OPTIMISERS, Optimiser
from pubmill.optimisers.learning_rates import stable, triangle


def shares(steps: int, rising: float, top: float) -> list[float]:
    return [part / whole for part, whole in (triangle(step, steps, rising, top) for step in range(steps))]


def test_pretraining_reaches_its_peak_at_one_step() -> None:
    assert shares(6, 2, 1) == pytest.approx([1 / 2, 1, 4 / 5, 3 / 5, 2 / 5, 1 / 5])


def test_fine_tuning_stays_at_its_peak_for_one_more_step() -> None:
    assert shares(6, 2, 2) == pytest.approx([1 / 2, 1, 1, 3 / 4, 2 / 4, 1 / 4])


def test_a_rise_may_end_between_two_steps() -> None:
    assert shares(6, 2.5, 2.5) == pytest.approx([1 / 2.5, 2 / 2.5, 1, 3 / 3.5, 2 / 3.5, 1 / 3.5])


def test_without_warmup_the_first_step_has_the_peak() -> None:
    assert shares(4, 0, 0) == pytest.approx([1, 3 / 4, 2 / 4, 1 / 4])


def plateau(steps: int, rising: int, falling: int, last: float = 0.0, root: bool = False) -> list[float]:
    return [stable(step, steps, rising, falling, last, root) for step in range(steps)]


def test_a_stable_schedule_rises_stays_and_falls() -> None:
    assert plateau(8, 2, 4) == pytest.approx([1 / 2, 1, 1, 1, 1, 3 / 4, 2 / 4, 1 / 4])


def test_a_stable_schedule_falls_to_the_last_share_after_the_last_step() -> None:
    assert plateau(6, 1, 4, last=0.2) == pytest.approx([1, 1, 1, 0.8, 0.6, 0.4])


def test_a_fall_with_the_root_of_the_steps() -> None:
    assert plateau(6, 0, 4, root=True) == pytest.approx([1, 1, 1, 0.5, 1 - 0.5**0.5, 1 - 0.75**0.5])
    assert plateau(6, 0, 4, last=0.5, root=True)[3] == pytest.approx(0.75)


def test_without_a_fall_the_rate_stays_at_its_peak() -> None:
    assert plateau(4, 2, 0) == pytest.approx([1 / 2, 1, 1, 1])
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

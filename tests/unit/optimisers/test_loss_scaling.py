"""Scaling of the loss, with PyTorch's scaler on a processor: overflows skip an update and halve the scale."""

from typing import Any
from unittest.mock import Mock

import pytest
import torch

from pubmill.optimisers import OPTIMISERS
from pubmill.optimisers.loss_scaling import SMALLEST, LossScaling

CPU = torch.device("cpu")


class Training:
    """Updates of three weights; the slopes of their losses are given."""

    def __init__(self, precision: str = "float16", optimiser: str = "adamw") -> None:
        self.scaling = LossScaling(precision, CPU)
        self.weight = torch.nn.Parameter(torch.ones(3))
        self.optimiser: Any = OPTIMISERS[optimiser].make(
            [{"params": [self.weight]}], lr=0.1, betas=(0.9, 0.99), eps=1e-6
        )

    def update(self, slope: float) -> bool:
        self.scaling.backward(self.weight.sum() * slope)
        self.scaling.unscale(self.optimiser)
        updated = self.scaling.step(self.optimiser)
        self.optimiser.zero_grad()
        return updated

    @property
    def count(self) -> float:
        """The updates that the optimiser has counted."""
        state = self.optimiser.state[self.weight]
        return float(state["step"]) if state else 0.0


@pytest.mark.parametrize("optimiser", OPTIMISERS)
@pytest.mark.parametrize("fault", [float("inf"), float("-inf"), float("nan"), 1e38])
def test_an_overflow_skips_the_update_and_halves_the_scale(optimiser: str, fault: float) -> None:
    made = Training(optimiser=optimiser)
    assert made.scaling.scale == 2**16
    assert not made.update(fault)
    assert made.weight.tolist() == [1.0, 1.0, 1.0] and made.count == 0
    assert made.scaling.state() == {"skipped": 1, "scale": 2.0**15, "updates_at_scale": 0}
    assert made.update(0.5) and made.count == 1 and made.scaling.scale == 2**15
    # Gradients are unscaled: the update is that of a training in float32 that has never seen the overflow.
    plain = Training("float32", optimiser)
    assert plain.update(0.5) and made.weight.equal(plain.weight) and made.weight[0] < 1


def test_other_formats_are_neither_scaled_nor_skipped() -> None:
    for precision in ("float32", "bfloat16"):
        made = Training(precision)
        made.scaling.backward(made.weight.sum() * 0.3)
        assert made.weight.grad is not None and made.weight.grad.tolist() == [torch.tensor(0.3).item()] * 3
        assert made.scaling.scale == 1 and not made.scaling.active and made.scaling.state() == {}
        assert made.update(0.3)


def test_the_loss_is_scaled_until_its_gradients_are_complete() -> None:
    made = Training()
    for _ in range(2):
        made.scaling.backward(made.weight.sum() / 8)
    assert made.weight.grad is not None and made.weight.grad.tolist() == [2.0**14] * 3
    made.scaling.unscale(made.optimiser)
    assert made.weight.grad.tolist() == [0.25] * 3


@pytest.mark.parametrize("precision", ["float16", "float32"])
def test_a_step_without_memory_can_be_repeated(precision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made, other = Training(precision), Training(precision)
    for training in (made, other):
        training.update(1.0)
    with monkeypatch.context() as patch, pytest.raises(torch.OutOfMemoryError):
        patch.setattr(made.optimiser, "step", Mock(side_effect=torch.OutOfMemoryError))
        made.update(0.5)
    made.optimiser.zero_grad()
    assert made.update(0.5) and other.update(0.5)
    assert made.weight.equal(other.weight) and made.scaling.state() == other.scaling.state()


def test_the_scale_doubles_after_2000_updates_in_a_row() -> None:
    made = Training()
    made.scaling.restore({"skipped": 4, "scale": 8.0, "updates_at_scale": 1998})
    assert made.update(1.0) and made.scaling.scale == 8
    made.update(float("inf"))
    assert made.scaling.state() == {"skipped": 5, "scale": 4.0, "updates_at_scale": 0}
    made.scaling.restore({"skipped": 5, "scale": 4.0, "updates_at_scale": 1999})
    assert made.update(1.0)
    assert made.scaling.state() == {"skipped": 5, "scale": 8.0, "updates_at_scale": 0}


def test_gradients_that_are_never_finite_end_the_training() -> None:
    made = Training()
    with pytest.raises(FloatingPointError, match="not finite at any loss scale down to 0.00012207"):
        for _ in range(100):
            made.update(float("inf"))
    assert made.scaling.skipped == 30 and made.scaling.scale == SMALLEST / 2
    assert made.weight.tolist() == [1.0, 1.0, 1.0]

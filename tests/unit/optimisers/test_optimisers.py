"""Optimisers against their formulas and torch's own, the schedules of learning rates, step by step, and the
scaling of the loss, whose overflows skip an update and halve the scale."""

from collections.abc import Iterator
from typing import Any
from unittest.mock import Mock

import pytest
import torch
import torch.distributed as dist

from pubmill.optimisers import OPTIMISERS, stable, triangle
from pubmill.optimisers.adaptive import Adaptive, DecoupledAdamW, Lamb, StableAdamW
from pubmill.optimisers.loss_scaling import SMALLEST, LossScaling
from pubmill.optimisers.muon import Muon, orthogonal

SETTINGS: dict[str, Any] = {"lr": 0.1, "betas": (0.9, 0.98), "eps": 1e-6, "weight_decay": 0.1}


@pytest.mark.parametrize(("name", "orthogonal"), [*((name, False) for name in OPTIMISERS), ("muon", True)])
def test_weights_without_gradients_stay_as_they_are(name: str, orthogonal: bool) -> None:
    """Beside a weight that is learnt, and alone in a group; without even their decay, and without a state."""
    learnt, left, alone = (torch.nn.Parameter(torch.eye(2)) for _ in range(3))
    groups = [{"params": params, "orthogonal": orthogonal} for params in ([learnt, left], [alone])]
    optimiser = OPTIMISERS[name].make(groups, **SETTINGS)
    learnt.grad = torch.ones(2, 2)
    optimiser.step()
    assert left.equal(torch.eye(2)) and alone.equal(torch.eye(2)) and not learnt.equal(torch.eye(2))
    assert set(optimiser.state) == {learnt}


@pytest.fixture
def alone() -> Iterator[None]:
    store = dist.HashStore()  # type: ignore[attr-defined]
    dist.init_process_group("gloo", store=store, rank=0, world_size=1)
    yield
    dist.destroy_process_group()


@pytest.mark.filterwarnings("ignore")
def test_an_optimiser_in_shares_makes_the_same_updates(alone: None) -> None:
    ends = []
    for sharded in (False, True):
        weight = torch.nn.Parameter(torch.eye(2))
        optimiser = OPTIMISERS["lamb"].make([{"params": [weight]}], sharded=sharded, **SETTINGS)
        assert (type(optimiser).__name__ == "ZeroRedundancyOptimizer") == sharded
        weight.grad = torch.ones(2, 2)
        optimiser.step()
        ends.append(weight.detach())
    assert ends[0].equal(ends[1]) and not ends[0].equal(torch.eye(2))


BETAS, EPSILON = (0.9, 0.98), 1e-6


@pytest.mark.parametrize(
    ("kind", "decay"), [(StableAdamW, 0.03), (DecoupledAdamW, 0.03), (Lamb, 0.03), (Lamb, 0.0)]
)
def test_updates_are_those_of_the_formula(kind: type[Adaptive], decay: float) -> None:
    """LAMB's is algorithm 2 of You et al. (2020); without decay, its rate is not scaled to the weight."""
    torch.manual_seed(1)
    start, rates = [torch.randn(4, 3), torch.randn(5)], (0.1, 0.1, 0.02)
    gradients = [[torch.randn_like(one) * size for one in start] for size in (1.0, 0.1, 30.0)]
    weights = [torch.nn.Parameter(one.clone()) for one in start]
    made = kind(weights, lr=0.1, betas=BETAS, eps=EPSILON, weight_decay=decay)
    clipped, ends = 0, []
    for number, weight in enumerate(weights):
        expected, mean, square = start[number], torch.zeros_like(weight), torch.zeros_like(weight)
        for step, rate in enumerate(rates, 1):
            gradient = gradients[step - 1][number]
            mean, square = 0.9 * mean + 0.1 * gradient, 0.98 * square + 0.02 * gradient**2
            first, second = mean / (1 - 0.9**step), square / (1 - 0.98**step)
            root = (gradient**2 / second.clamp_min(EPSILON**2)).mean().sqrt().item()
            clipped += root > 1
            direction = first / (second.sqrt() + EPSILON) + (decay * expected if kind is Lamb else 0.0)
            if kind is Lamb:
                slowed, kept = rate * (expected.norm() / direction.norm() if decay else 1.0), 1.0
            else:
                slowed = rate / max(1.0, root) if kind is StableAdamW else rate
                kept = 1 - slowed / 0.1 * decay
            expected = kept * expected - slowed * direction
        ends.append(expected)
    for step, rate in enumerate(rates):
        for group in made.param_groups:
            group["lr"] = rate
        for number, weight in enumerate(weights):
            weight.grad = gradients[step][number].clone()
        made.step()
    for weight, expected in zip(weights, ends, strict=True):
        torch.testing.assert_close(weight.detach(), expected, atol=1e-6, rtol=1e-5)
    assert clipped > 1


def test_a_matrix_of_zeros_is_moved_by_lamb_all_the_same() -> None:
    weight = torch.nn.Parameter(torch.zeros(2, 2))
    weight.grad = torch.ones(2, 2)
    Lamb([weight], lr=0.1, betas=(0.9, 0.99), eps=1e-6, weight_decay=0.01).step()
    torch.testing.assert_close(weight.detach(), torch.full((2, 2), -0.1), atol=1e-5, rtol=0)


def test_muon_moves_matrices_and_other_weights_as_torch_does() -> None:
    torch.manual_seed(1)
    start = [torch.randn(6, 4), torch.randn(6, 4), torch.randn(4, 8), torch.randn(5)]
    gradients = [[torch.randn_like(one) for one in start] for _ in range(3)]
    ours, theirs = ([torch.nn.Parameter(one.clone()) for one in start] for _ in range(2))
    adam: dict[str, Any] = {"lr": 0.1, "betas": (0.9, 0.98), "eps": 1e-8, "weight_decay": 0.1}
    optimisers = [
        Muon([{"params": ours[3:]}, {"params": ours[:3], "orthogonal": True}], **adam),
        torch.optim.AdamW(theirs[3:], **adam),
        torch.optim.Muon(theirs[:3], lr=0.1, weight_decay=0.1, adjust_lr_fn="match_rms_adamw"),
    ]
    for step in gradients:
        for weight, gradient in zip([*ours, *theirs], [*step, *step], strict=True):
            weight.grad = gradient.clone()
        for optimiser in optimisers:
            optimiser.step()
    for left, right in zip(ours, theirs, strict=True):
        # Updates of 0.05, in bfloat16; the products of several matrices may round otherwise.
        torch.testing.assert_close(left, right, atol=1e-3 if left.ndim > 1 else 1e-6, rtol=0)


def test_singular_values_become_about_one() -> None:
    torch.manual_seed(1)
    for shape in ((2, 30, 10), (2, 10, 30), (1, 8, 8)):
        values = torch.linalg.svdvals(orthogonal(torch.randn(shape)).float())
        assert values.min() > 0.3 and values.max() < 1.3


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

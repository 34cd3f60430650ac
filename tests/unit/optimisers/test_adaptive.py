"""What optimisers with running means have in common: weights without gradients, and states in shares."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch.distributed as dist

from pubmill.optimisers import OPTIMISERS
from pubmill.optimisers.adaptive import DecoupledAdamW, StableAdamW

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
    """A world of this process."""
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


BETAS, EPSILON, DECAY = (0.9, 0.98), 1e-6, 0.03


@pytest.mark.parametrize("kind", [StableAdamW, DecoupledAdamW])
def test_updates_are_those_of_the_formula(kind: type[DecoupledAdamW]) -> None:
    torch.manual_seed(1)
    start, rates = [torch.randn(4, 3), torch.randn(5)], (0.1, 0.1, 0.02)
    gradients = [[torch.randn_like(one) * size for one in start] for size in (1.0, 0.1, 30.0)]
    weights = [torch.nn.Parameter(one.clone()) for one in start]
    made = kind(weights, lr=0.1, betas=BETAS, eps=EPSILON, weight_decay=DECAY)
    clipped, ends = 0, []
    for number, weight in enumerate(weights):
        expected, mean, square = start[number], torch.zeros_like(weight), torch.zeros_like(weight)
        for step, rate in enumerate(rates, 1):
            gradient = gradients[step - 1][number]
            mean, square = 0.9 * mean + 0.1 * gradient, 0.98 * square + 0.02 * gradient**2
            first, second = mean / (1 - 0.9**step), square / (1 - 0.98**step)
            root = (gradient**2 / second.clamp_min(EPSILON**2)).mean().sqrt().item()
            clipped += root > 1
            slowed = rate / max(1.0, root) if kind is StableAdamW else rate
            expected = expected * (1 - slowed / 0.1 * DECAY) - slowed * first / (second.sqrt() + EPSILON)
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

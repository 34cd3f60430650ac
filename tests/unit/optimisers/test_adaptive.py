"""What optimisers with running means have in common: weights without gradients, and states in shares."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch.distributed as dist

from pubmill.optimisers import OPTIMISERS

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


@pytest.mark.parametrize("name", OPTIMISERS)
def test_the_state_is_what_plans_and_checkpoints_expect(name: str) -> None:
    weight = torch.nn.Parameter(torch.eye(2))
    optimiser = OPTIMISERS[name].make([{"params": [weight]}], **SETTINGS)
    for count in (1, 2):
        weight.grad = torch.ones(2, 2)
        optimiser.step()
        assert tuple(sorted(optimiser.state[weight])) == tuple(sorted(OPTIMISERS[name].state))
        assert float(optimiser.state[weight]["step"]) == count


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

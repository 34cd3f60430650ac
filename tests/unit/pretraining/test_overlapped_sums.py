"""The order of sums of gradients over processes, each begun when its gradient and all before it are there."""

from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn

from pubmill.pretraining import overlapped_sums
from pubmill.pretraining.distributed import World
from pubmill.pretraining.methods import Bfloat16Copies
from pubmill.pretraining.overlapped_sums import OverlappedSums

CPU = torch.device("cpu")
TWO = World(CPU, 0, 2)


class Work:
    """A sum that two processes with equal gradients would get, once it is waited for."""

    def __init__(self, gradient: Tensor) -> None:
        self.gradient, self.waited = gradient, False

    def wait(self) -> None:
        self.waited = True
        self.gradient.mul_(2)


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[Work]:
    """The sums in the order in which they begin; those of at least four numbers overlap."""
    made: list[Work] = []

    def all_reduce(gradient: Tensor, async_op: bool = False) -> Work:
        assert async_op
        made.append(Work(gradient))
        return made[-1]

    monkeypatch.setattr(dist, "all_reduce", all_reduce)
    monkeypatch.setattr(overlapped_sums, "OVERLAPPING", ("cpu",))
    monkeypatch.setattr(overlapped_sums, "LARGE", 4)
    return made


def weights() -> list[nn.Parameter]:
    return [nn.Parameter(torch.zeros(size)) for size in (4, 3, 6, 5)]


def sizes(begun: list[Work]) -> list[int]:
    return [len(one.gradient) for one in begun]


def learn(*weights: nn.Parameter) -> None:
    """A backward pass in which these weights get a gradient of ones."""
    torch.stack([weight.sum() for weight in weights]).sum().backward()


def test_large_weights_are_summed_on_their_own_from_the_last_one(begun: list[Work]) -> None:
    given = weights()
    sums = OverlappedSums(given, TWO)
    assert [len(weight) for weight in sums.weights] == [5, 6, 4]
    assert [len(weight) for weight in sums.others] == [3]
    sums.active = True
    learn(*given)
    assert sizes(begun) == [5, 6, 4] and not any(one.waited for one in begun)
    sums.finish()
    assert all(one.waited for one in begun) and not sums.active
    assert [float(weight.grad[0]) for weight in given if weight.grad is not None] == [2, 1, 2, 2]


def test_a_gradient_waits_for_those_before_it_in_the_order(begun: list[Work]) -> None:
    first, _, second, third = weights()
    sums = OverlappedSums([first, second, third], TWO)
    sums.active = True
    learn(first)
    assert sizes(begun) == []
    learn(third)
    assert sizes(begun) == [5]
    learn(second)
    assert sizes(begun) == [5, 6, 4]


def test_only_the_last_micro_batch_of_a_step_is_summed(begun: list[Work]) -> None:
    given = weights()
    sums = OverlappedSums(given, TWO)
    learn(*given)
    assert sizes(begun) == []
    sums.active = True
    learn(*given)
    sums.finish()
    assert sizes(begun) == [5, 6, 4] and [float(one.gradient[0]) for one in begun] == [4, 4, 4]
    sums.begin()
    learn(*given)
    assert len(begun) == 3
    sums.active = True
    learn(*given)
    assert len(begun) == 6


def test_a_missing_gradient_counts_as_zero(begun: list[Work]) -> None:
    """Other processes may have one, and wait for this sum."""
    first, _, second, third = weights()
    sums = OverlappedSums([first, second, third], TWO)
    sums.active = True
    learn(third)
    sums.finish()
    assert sizes(begun) == [5, 6, 4]
    assert third.grad is not None and third.grad.tolist() == [2.0] * 5
    for weight in (first, second):
        assert weight.grad is not None and not weight.grad.any() and weight.grad.shape == weight.shape


@pytest.mark.parametrize(("size", "devices"), [(1, ("cpu",)), (2, ("cuda",))])
def test_alone_or_on_a_processor_nothing_overlaps(
    begun: list[Work], monkeypatch: pytest.MonkeyPatch, size: int, devices: tuple[str, ...]
) -> None:
    monkeypatch.setattr(overlapped_sums, "OVERLAPPING", devices)
    given = weights()
    sums = OverlappedSums(given, World(CPU, 0, size))
    assert sums.weights == [] and list(map(id, sums.others)) == list(map(id, given))
    sums.active = True
    learn(*given)
    sums.finish()
    assert begun == [] and not sums.active


def test_gradients_of_copies_are_moved_to_their_weights_and_summed(begun: list[Work]) -> None:
    """Those of the last micro-batch, on top of what earlier ones have left; small weights are moved later."""
    layer = nn.Linear(2, 3)
    copies = Bfloat16Copies(layer)
    sums = OverlappedSums(layer.parameters(), TWO)
    assert [weight is layer.weight for weight in sums.weights] == [True]
    copies.call_when_ready(sums)

    def learn_copies() -> None:
        made: Any = sum(copy.sum() for copy in copies.copies)
        made.backward()

    learn_copies()
    assert layer.weight.grad is None and copies.copies[0].grad is not None
    copies.add_gradients()
    assert layer.weight.grad is not None and layer.weight.grad.tolist() == [[1.0, 1.0]] * 3
    assert begun == []
    sums.active = True
    learn_copies()
    assert copies.copies[0].grad is None and layer.weight.grad.tolist() == [[2.0, 2.0]] * 3
    assert [one.gradient is layer.weight.grad for one in begun] == [True]
    assert layer.bias.grad is not None and layer.bias.grad.tolist() == [1.0] * 3
    copies.add_gradients()
    assert layer.bias.grad.tolist() == [2.0] * 3 and layer.weight.grad.tolist() == [[2.0, 2.0]] * 3

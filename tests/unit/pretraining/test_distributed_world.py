"""What a process does with the numbers of the others; the other process is a stand-in."""

import atexit
from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch.distributed as dist

from pubmill.pretraining import distributed
from pubmill.pretraining.distributed import World, join

CPU = torch.device("cpu")
ALONE, FIRST, SECOND = World(CPU), World(CPU, 0, 2), World(CPU, 1, 2)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Sizes of the tensors that are added; the other process has the same numbers."""
    sizes: list[int] = []

    def all_reduce(numbers: torch.Tensor, group: object = None) -> None:
        sizes.append(numbers.numel())
        numbers.mul_(2)

    monkeypatch.setattr(dist, "all_reduce", all_reduce)
    return sizes


def weights(*shapes: tuple[int, ...]) -> Iterator[torch.nn.Parameter]:
    for number, shape in enumerate(shapes, 1):
        weight = torch.nn.Parameter(torch.zeros(shape))
        weight.grad = torch.full(shape, float(number))
        yield weight


def test_gradients_are_added_several_at_a_time(sent: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as fit; a larger one travels alone, and a missing one counts as zeros."""
    monkeypatch.setattr(distributed, "TOGETHER", 8)
    made = list(weights((2, 2), (4,), (3,), (3, 2), (10,), (1,)))
    made[3].grad = None
    FIRST.add_gradients(iter(made))
    assert sent == [8, 3, 6, 10, 1]
    expected = [2.0, 4.0, 6.0, 0.0, 10.0, 12.0]
    for weight, value in zip(made, expected, strict=True):
        assert weight.grad is not None and torch.equal(weight.grad, torch.full(weight.shape, value))


def test_alone_nothing_is_sent(sent: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("broadcast", "broadcast_object_list"):
        monkeypatch.setattr(dist, name, None)
    (weight,) = weights((2,))
    weight.grad = None
    ALONE.add_gradients([weight])
    ALONE.spread([weight])
    assert weight.grad is None and sent == []
    assert ALONE.total({"a": 1.5}) == {"a": 1.5} and ALONE.decide(lambda: 7) == 7 and ALONE.first


def test_numbers_are_added_by_name(sent: list[int]) -> None:
    assert SECOND.total({"a": 1.5, "b": -2}) == {"a": 3.0, "b": -4.0}
    assert sent == [2]


def test_the_first_process_decides_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def broadcast(found: list[Any], source: int, device: torch.device) -> None:
        assert source == 0 and device == CPU
        found[0] = "theirs" if found == [None] else found[0]

    monkeypatch.setattr(dist, "broadcast_object_list", broadcast)
    assert FIRST.decide(lambda: "ours") == "ours"
    assert SECOND.decide(lambda: pytest.fail("must not decide")) == "theirs"
    assert FIRST.first and not SECOND.first


def test_weights_come_from_the_first_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dist, "broadcast", lambda data, source: data.fill_(5.0 + source))
    made = list(weights((2, 2), (3,)))
    SECOND.spread(made)
    assert all((weight == 5.0).all() for weight in made)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What joining asks of torch, as the second of two processes."""
    found: list[Any] = []
    for name in ("LOCAL_RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(dist, "init_process_group", lambda *given, **named: found.append((*given, named)))
    monkeypatch.setattr(dist, "new_group", lambda backend: HOSTS)
    monkeypatch.setattr(dist, "get_rank", lambda: 1)
    monkeypatch.setattr(dist, "get_world_size", lambda: 2)
    monkeypatch.setattr(atexit, "register", found.append)
    monkeypatch.setattr(torch.cuda, "set_device", found.append)
    return found


HOSTS: Any = object()


@pytest.mark.parametrize("gpu", [False, True])
def test_a_process_of_torchrun_joins_the_others_on_its_own_gpu(
    calls: list[Any], monkeypatch: pytest.MonkeyPatch, gpu: bool
) -> None:
    monkeypatch.setattr(distributed, "gpu_is_used", lambda: gpu)
    monkeypatch.setenv("LOCAL_RANK", "3")
    monkeypatch.setenv("WORLD_SIZE", "2")
    device = torch.device("cuda", 3) if gpu else CPU
    world = join()
    assert (world.device, world.rank, world.size) == (device, 1, 2)
    assert world.hosts is (HOSTS if gpu else None)
    group = ("nccl", {"device_id": device}) if gpu else ("gloo", {"device_id": None})
    assert calls == [*([device] if gpu else []), group, dist.destroy_process_group]


@pytest.mark.parametrize("gpu", [False, True])
def test_a_process_without_torchrun_is_alone_on_the_first_gpu(
    calls: list[Any], monkeypatch: pytest.MonkeyPatch, gpu: bool
) -> None:
    monkeypatch.setattr(distributed, "gpu_is_used", lambda: gpu)
    device = torch.device("cuda", 0) if gpu else CPU
    assert join() == World(device, 0, 1) and calls == ([device] if gpu else [])

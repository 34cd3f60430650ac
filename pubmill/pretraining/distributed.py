"""Pretraining with several processes started by torchrun: one per GPU, or several on a processor."""

import atexit
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
import torch.distributed as dist

from pubmill.hardware.torch_setup import gpu_is_used

Value = TypeVar("Value")
TOGETHER = 1 << 25
"""Gradient elements that are summed over the processes in one operation: 128 MiB."""
LARGE = 2**16
"""Least size of a weight whose gradient is summed on its own; smaller weights are summed together."""
OVERLAPPING = ("cuda",)
"""Devices where communication and computation overlap; a processor would do both itself."""


@dataclass(frozen=True)
class World:
    """The rank of this process, the number of processes, and the device of this process. `hosts`: group of
    processes that communicate without their GPUs; None: the default group does."""

    device: torch.device
    rank: int = 0
    size: int = 1
    hosts: dist.ProcessGroup | None = None

    @property
    def first(self) -> bool:
        """Return whether this process writes files and messages."""
        return self.rank == 0

    def decide(self, decision: Callable[[], Value]) -> Value:
        """Return the first process's value in all processes."""
        if self.size == 1:
            return decision()
        decided: list[Any] = [decision() if self.first else None]
        dist.broadcast_object_list(decided, 0, device=self.device)
        return decided[0]  # type: ignore[no-any-return]

    def total(self, sums: dict[str, float]) -> dict[str, float]:
        """Return numbers summed over all processes, without waiting for the work of GPUs."""
        return dict(zip(sums, self._add(list(sums.values())), strict=True))

    def any(self, *flags: bool) -> list[bool]:
        """Return for each flag whether it is set in any process, without waiting for the work of GPUs."""
        return [number > 0 for number in self._add(list(flags))]

    def _add(self, numbers: list[float]) -> list[float]:
        """Return the sums of numbers over all processes."""
        if self.size == 1:
            return numbers
        device = self.device if self.hosts is None else torch.device("cpu")
        sums = torch.tensor(numbers, dtype=torch.float64, device=device)
        dist.all_reduce(sums, group=self.hosts)
        return list(sums.tolist())

    def spread(self, weights: Iterable[torch.nn.Parameter]) -> None:
        """Replace weights by those of the first process."""
        if self.size > 1:
            for weight in weights:
                dist.broadcast(weight.data, 0)

    def add_gradients(self, weights: Iterable[torch.nn.Parameter]) -> None:
        """Replace gradients by their sums over all processes; a missing gradient counts as zero."""
        if self.size == 1:
            return
        for weight in (weights := list(weights)):
            weight.grad = torch.zeros_like(weight) if weight.grad is None else weight.grad
        gradients = [weight.grad for weight in weights if weight.grad is not None]
        begin = 0
        while begin < len(gradients):
            end, numbers = begin + 1, gradients[begin].numel()
            while end < len(gradients) and numbers + gradients[end].numel() <= TOGETHER:
                numbers += gradients[end].numel()
                end += 1
            some, begin = gradients[begin:end], end
            flat = torch.cat([gradient.flatten() for gradient in some])
            dist.all_reduce(flat)
            parts = torch.split(flat, [gradient.numel() for gradient in some])
            views = [part.view_as(gradient) for part, gradient in zip(parts, some, strict=True)]
            torch._foreach_copy_(some, views)


def join() -> World:
    """Join the processes that torchrun started (WORLD_SIZE, RANK, LOCAL_RANK), or work alone. GPUs use NCCL,
    processors and flags gloo. Raises a `PubmillError` for a GPU that PyTorch cannot use."""
    local, cuda = int(os.environ.get("LOCAL_RANK", "0")), gpu_is_used()
    device = torch.device("cuda", local) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(device)
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return World(device)
    dist.init_process_group("nccl" if cuda else "gloo", device_id=device if cuda else None)
    # At the very end, after the model is deleted: if the model's reducer were the last owner of the group, it
    # could deadlock, waiting for gloo's thread while holding the GIL that the thread waits for (torch 2.13).
    atexit.register(dist.destroy_process_group)
    hosts = dist.new_group(backend="gloo") if cuda else None
    return World(device, dist.get_rank(), dist.get_world_size(), hosts)


class OverlappedSums:
    """Sums of large weights' gradients over all processes, computed in the order of the backward pass while a
    step's last backward pass still computes other gradients.

    PyTorch's DistributedDataParallel does this for a module's gradients; here the gradients belong to copies
    in bfloat16, are added in float32 first, and all processes must agree if one has too little memory.
    `active`: whether this backward pass completes the gradients of the step.
    """

    def __init__(self, weights: Iterable[torch.nn.Parameter], world: World) -> None:
        weights = list(weights)
        overlaps = world.size > 1 and world.device.type in OVERLAPPING
        self.weights = [one for one in reversed(weights) if overlaps and one.numel() >= LARGE]
        taken = set(map(id, self.weights))
        self.others = [one for one in weights if id(one) not in taken]
        self.begin()
        for weight in self.weights:
            weight.register_post_accumulate_grad_hook(self.add)  # type: ignore[no-untyped-call]

    def begin(self) -> None:
        """Begin a step."""
        self.active = False
        self._ready, self._works = set[int](), list[dist.Work | None]()

    def add(self, weight: torch.Tensor) -> None:
        """Begin to sum a weight's gradient over the processes, and then those that had to wait for it."""
        if self.active:
            self._ready.add(id(weight))
            while len(self._works) < len(self.weights) and id(self.weights[len(self._works)]) in self._ready:
                self._send()

    def finish(self) -> None:
        """Add the gradients that are left, of which a missing one counts as zero, and wait for all sums."""
        while len(self._works) < len(self.weights):
            self._send()
        for work in filter(None, self._works):
            work.wait()
        self.active = False

    def _send(self) -> None:
        weight = self.weights[len(self._works)]
        weight.grad = torch.zeros_like(weight) if weight.grad is None else weight.grad
        self._works.append(dist.all_reduce(weight.grad, async_op=True))

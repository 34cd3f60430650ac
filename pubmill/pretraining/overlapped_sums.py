"""Sums of gradients over processes while the last backward pass of a step still computes others.

PyTorch's DistributedDataParallel does this for the gradients of a module's weights; here they belong to
copies in bfloat16, are added in float32 first, and all processes must agree if one has too little memory.
"""

from collections.abc import Iterable

import torch
import torch.distributed as dist

from pubmill.pretraining.distributed import World

LARGE = 2**16
"""Least size of a weight whose gradient is summed on its own; smaller weights are summed together."""
OVERLAPPING = ("cuda",)
"""Devices where communication and computation overlap; a processor would do both itself."""


class OverlappedSums:
    """Sums of large weights' gradients over all processes, in the order of the backward pass. `active`:
    whether this backward pass completes the gradients of the step."""

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
        """Add the gradient of a weight, and those that waited for it."""
        if self.active:
            self._ready.add(id(weight))
            while len(self._works) < len(self.weights) and id(self._next) in self._ready:
                self._send()

    def finish(self) -> None:
        """Add the gradients that are left, of which a missing one counts as zero, and wait for all sums."""
        while len(self._works) < len(self.weights):
            self._send()
        for work in filter(None, self._works):
            work.wait()
        self.active = False

    @property
    def _next(self) -> torch.nn.Parameter:
        return self.weights[len(self._works)]

    def _send(self) -> None:
        weight = self._next
        weight.grad = torch.zeros_like(weight) if weight.grad is None else weight.grad
        self._works.append(dist.all_reduce(weight.grad, async_op=True))

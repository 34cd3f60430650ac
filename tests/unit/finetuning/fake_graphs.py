"""A stand-in for CUDA graphs on a processor: it records operations on tensors and replays them in place.

As in a graph, addresses and numbers of the host are those of the recording, and recording changes nothing.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

Made = TypeVar("Made")


def tensors(values: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)]


def place(tensor: torch.Tensor) -> int:
    """Address of the tensor's memory, which a recording holds."""
    return tensor.untyped_storage().data_ptr()


class Recording(TorchDispatchMode):
    """Operations, with their arguments and results."""

    def __init__(self) -> None:
        super().__init__()
        self.operations: list[tuple[Any, Any, Any, Any]] = []
        self.created: set[int] = set()
        self.before: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        for argument, value in zip(op._schema.arguments, args, strict=False):
            if argument.alias_info is not None and argument.alias_info.is_write:
                for tensor in tensors(value):
                    if place(tensor) not in self.created | self.before.keys():
                        self.before[place(tensor)] = (tensor, tensor.clone())
        made = op(*args, **kwargs)
        known = {place(tensor) for tensor in tensors((args, kwargs))}
        self.created |= {place(tensor) for tensor in tensors(made)} - known
        self.operations.append((op, args, kwargs, made))
        return made

    def undo(self) -> None:
        for tensor, value in self.before.values():
            tensor.copy_(value)

    @torch.no_grad()
    def replay(self) -> None:
        for op, args, kwargs, made in self.operations:
            for new, old in zip(tensors(op(*args, **kwargs)), tensors(made), strict=True):
                if new.data_ptr() != old.data_ptr():
                    old.copy_(new)


class FakeRecorder:
    """Recorder whose replays are counted."""

    def __init__(self) -> None:
        self.recordings: list[Recording] = []
        self.replays = 0

    def __call__(self, work: Callable[[], Made], /) -> tuple[Callable[[], None], Made]:
        recording, state = Recording(), torch.get_rng_state()
        with recording:
            made = work()
        with torch.no_grad():
            recording.undo()
        torch.set_rng_state(state)
        self.recordings.append(recording)

        def replay() -> None:
            self.replays += 1
            recording.replay()

        return replay, made

"""A Triton that is not there: its kernels run on PyTorch's operations, on the numbers of all blocks at once.

On tensors without values, one block of zeros runs instead.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily
from torch.utils._python_dispatch import _disable_current_modes

RUNNING: list["Launch"] = []
"""The kernel that runs, if any."""


@dataclass(frozen=True)
class Pointer:
    """Addresses in a tensor: of one number, or of a tensor's."""

    tensor: torch.Tensor
    at: Any = 0

    def __add__(self, offset: Any) -> "Pointer":
        return Pointer(self.tensor, self.at + offset)


@dataclass(frozen=True)
class Launch:
    """A kernel that runs. `blocks`: number of them; `values`: whether the tensors have any."""

    blocks: int
    values: bool


def program_id(axis: int) -> torch.Tensor:
    assert axis == 0
    return torch.arange(RUNNING[-1].blocks, dtype=torch.int32)[:, None]


def arange(start: int, end: int) -> torch.Tensor:
    return torch.arange(start, end, dtype=torch.int32)


def load(pointer: Pointer, mask: Any = None, other: float = 0.0) -> torch.Tensor:
    if not RUNNING[-1].values:
        return torch.zeros(pointer.at.shape if mask is not None else (), dtype=pointer.tensor.dtype)
    numbers = pointer.tensor.detach().view(-1)
    if mask is None:
        return numbers[pointer.at].clone()
    found = numbers[torch.where(mask, pointer.at, 0)]
    return torch.where(mask, found, torch.full_like(found, other))


def store(pointer: Pointer, value: torch.Tensor, mask: torch.Tensor) -> None:
    assert value.dtype == pointer.tensor.dtype
    if RUNNING[-1].values:
        at, value, mask = torch.broadcast_tensors(pointer.at, value, mask)
        pointer.tensor.detach().view(-1)[at[mask]] = value[mask]


class Compiled:
    """A kernel: `kernel[(blocks,)](...)` runs it."""

    def __init__(self, function: Callable[..., None]) -> None:
        self.function = function

    def __getitem__(self, grid: tuple[int]) -> Callable[..., None]:
        return lambda *given, **constants: self.run(grid[0], given, constants)

    def run(self, blocks: int, given: tuple[Any, ...], constants: dict[str, Any]) -> None:
        values = not any(isinstance(argument, FakeTensor) for argument in given)
        with torch.no_grad():
            arguments = [Pointer(one) if isinstance(one, torch.Tensor) else one for one in given]
        RUNNING.append(Launch(blocks if values else 1, values))
        try:
            if values:
                self.function(*arguments, **constants)
            else:
                with _disable_current_modes(), unset_fake_temporarily():
                    self.function(*arguments, **constants)
        finally:
            RUNNING.pop()


def install() -> None:
    """Give this process the modules triton and triton.language."""
    language = ModuleType("triton.language")
    vars(language).update({name: getattr(torch, name) for name in ("float32", "bfloat16", "int64", "sqrt")})
    vars(language).update(constexpr=lambda value: value, program_id=program_id, arange=arange)
    vars(language).update(load=load, store=store)
    triton = ModuleType("triton")
    vars(triton).update(jit=lambda **settings: Compiled, language=language)
    if "triton" not in sys.modules:
        sys.modules.update({"triton": triton, "triton.language": language})

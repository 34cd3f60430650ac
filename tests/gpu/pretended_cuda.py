"""An H100 that is not there: tensors without values on a device named cuda.

It needs the library of `pretended_device.cpp`. A tensor that was left on the processor is found, as on a real
device (`FakeTensorDeviceMismatchError`); numbers mean nothing, every value that the host reads is 1.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

H100 = SimpleNamespace(
    name="NVIDIA H100 80GB HBM3", total_memory=85_000_000_000, major=9, minor=0, multi_processor_count=132
)
CUDA = {
    "is_available": True,
    "device_count": 1,
    "current_device": 0,
    "get_device_properties": H100,
    "get_device_name": H100.name,
    "get_device_capability": (9, 0),
    "is_bf16_supported": True,
    "get_rng_state": torch.zeros(16, dtype=torch.uint8),
    "set_rng_state": None,
    "set_device": None,
    "manual_seed": None,
    "manual_seed_all": None,
    "empty_cache": None,
}
"""Functions of torch.cuda, and what each returns."""
MOVED: dict[torch.Tensor, torch.nn.Parameter] = {}
"""Weight before it was moved to the device -> after."""


def pretend() -> FakeTensorMode:
    """Return the mode in which this process has the device; patches torch for the rest of the process."""
    for name, value in CUDA.items():
        setattr(torch.cuda, name, lambda *given, value=value, **named: value)
    FakeTensorMode.avoid_device_init = property(lambda self: True)  # type: ignore[assignment,method-assign]
    torch.nn.Module._apply = _replace_weights  # type: ignore[method-assign]
    for name in ("item", "tolist", "__bool__", "__int__", "__float__"):
        _read_as_ones(name)
    return FakeTensorMode(allow_non_fake_inputs=True)


def _replace_weights(self: torch.nn.Module, move: Callable[[torch.Tensor], torch.Tensor], *given: Any) -> Any:
    """Module._apply with new weights for old ones, which cannot change in place; shared ones stay shared."""
    for child in self.children():
        child._apply(move)
    for name, weight in self._parameters.items():
        if weight is not None:
            if weight not in MOVED:
                MOVED[weight] = torch.nn.Parameter(move(weight.detach()), weight.requires_grad)
            self._parameters[name] = MOVED[weight]
    for name, buffer in self._buffers.items():
        self._buffers[name] = None if buffer is None else move(buffer)
    return self


def _read_as_ones(name: str) -> None:
    read = getattr(torch.Tensor, name)

    def reading(self: torch.Tensor, *given: Any) -> Any:
        if not isinstance(self, FakeTensor):
            return read(self, *given)
        known = self.constant
        return read(torch.ones(self.shape, dtype=self.dtype, device="cpu") if known is None else known)

    def outside(self: torch.Tensor, *given: Any) -> Any:
        with torch._subclasses.fake_tensor.unset_fake_temporarily():
            return reading(self, *given)

    setattr(torch.Tensor, name, outside)

"""An H100 that is not there: tensors without values on a device named cuda.

It needs the library of `pretended_device.cpp`. A tensor that was left on the processor is found, as on a real
device (`FakeTensorDeviceMismatchError`); numbers mean nothing, every value that the host reads is 1.
"""

import traceback
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Self

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

H100 = SimpleNamespace(
    name="NVIDIA H100 80GB HBM3", total_memory=85_000_000_000, major=9, minor=0, multi_processor_count=132
)
CUDA = {
    "is_available": True, "device_count": 1, "current_device": 0, "get_device_properties": H100,
    "get_device_name": H100.name, "get_device_capability": (9, 0), "is_bf16_supported": True,
    "get_rng_state": torch.zeros(16, dtype=torch.uint8), "set_rng_state": None, "set_device": None,
    "manual_seed": None, "manual_seed_all": None, "empty_cache": None,
}  # fmt: skip
"""Functions of torch.cuda, and what each returns."""
MOVED: dict[torch.Tensor, torch.nn.Parameter] = {}
"""Weight before it was moved to the device -> after."""
WATCHES: list["Watch"] = []
"""The watches in use, innermost last."""
HELD: list[torch.Tensor] = []
"""The pinned tensors, kept so that no later tensor gets the `id` of one of them."""
PINNED: set[int] = set()
"""The `id`s of the tensors in pinned memory."""


class Watch(TorchDispatchMode):
    """Count the operations that make the host wait for the device, and copies from pageable memory.

    A wait is a value of a device's tensor that the host reads. Each is counted by its place in the code.
    """

    def __init__(self) -> None:
        super().__init__()
        self.waits: Counter[str] = Counter()
        self.copies: Counter[str] = Counter()

    def __enter__(self) -> Self:
        WATCHES.append(self)
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        WATCHES.remove(self)

    def found(self) -> dict[str, dict[str, int]]:
        return {"waits": dict(self.waits), "copies": dict(self.copies)}

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = op(*args, **(kwargs or {}))
        name = op._schema.name.removeprefix("aten::")
        devices = _devices(args)
        reads = name in DATA_DEPENDENT and "cuda" in devices
        if reads or (name in COPIES and devices | _devices(made) == {"cpu", "cuda"}):
            source = args[1] if name == "copy_" else args[0]
            if source.device.type == "cuda":
                self.waits[place()] += 1
            elif id(source) not in PINNED:
                self.copies[place()] += 1
        return made


COPIES = {"_to_copy", "copy_", "to", "cpu"}
DATA_DEPENDENT = {"nonzero", "masked_select", "_unique2", "equal", "is_nonzero"}
"""Operations whose output's size or value the host has to know."""


def _devices(values: Any) -> set[str]:
    return {leaf.device.type for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)}


def place() -> str:
    """Return the innermost line of pubmill on the stack."""
    frames = [frame for frame in traceback.extract_stack() if "/pubmill/" in frame.filename]
    inner = [frame for frame in frames if "/site-packages/" not in frame.filename]
    return (
        f"{inner[-1].filename.rpartition('/')[2]}:{inner[-1].lineno} {inner[-1].line}" if inner else "outside"
    )


def pretend() -> FakeTensorMode:
    """Return the mode in which this process has the device; patches torch for the rest of the process."""
    for name, value in CUDA.items():
        setattr(torch.cuda, name, lambda *given, value=value, **named: value)
    FakeTensorMode.avoid_device_init = property(lambda self: True)  # type: ignore[assignment,method-assign]
    # A copied tensor is of the same mode; copies of a mode would each release its references to storage.
    FakeTensorMode.__deepcopy__ = lambda self, memo: self  # type: ignore[attr-defined]
    torch.nn.Module._apply = _replace_weights  # type: ignore[method-assign]
    for name in ("item", "tolist", "numpy", "__bool__", "__int__", "__float__"):
        _read_as_ones(name)
    FakeTensor.tolist = torch.Tensor.tolist  # type: ignore[method-assign]
    # Draws again while a number is too large, which without numbers would never end.
    torch.nn.init._no_grad_trunc_normal_ = lambda tensor, *given, **named: tensor
    torch.Tensor.pin_memory = _pin  # type: ignore[assignment,method-assign]
    return Device(allow_non_fake_inputs=True)


class Device(FakeTensorMode):
    """Tensors without values. One whose value is known is moved to the device as others are.

    The usual mode would move the value itself, to a device that is not there.
    """

    def dispatch(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in (torch.ops.aten.to.dtype_layout, torch.ops.aten.type_as.default):
            with self:
                return func.decompose(*args, **(kwargs or {}))
        return super().dispatch(func, types, args, kwargs or {})


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


def _pin(self: torch.Tensor, *given: Any) -> torch.Tensor:
    HELD.append(self)
    PINNED.add(id(self))
    return self


def _read_as_ones(name: str) -> None:
    read = getattr(torch.Tensor, name)

    def reading(self: torch.Tensor, *given: Any) -> Any:
        if not isinstance(self, FakeTensor):
            return read(self, *given)
        if self.device.type == "cuda":
            for watch in WATCHES:
                watch.waits[place()] += 1
        known = self.constant
        return read(torch.ones(self.shape, dtype=self.dtype, device="cpu") if known is None else known)

    def outside(self: torch.Tensor, *given: Any) -> Any:
        with torch._subclasses.fake_tensor.unset_fake_temporarily():
            return reading(self, *given)

    setattr(torch.Tensor, name, outside)

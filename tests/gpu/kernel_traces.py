"""Kernels that a program starts on the pretended device, with the memory that each reads and writes."""

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

import torch
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

VIEWS = frozenset(
    "view _unsafe_view transpose t expand slice select unsqueeze squeeze permute detach alias as_strided "
    "split split_with_sizes unbind empty empty_like empty_strided new_empty lift_fresh new_empty_strided "
    "_reshape_alias chunk diagonal sym_size is_same_size unfold narrow _local_scalar_dense set_ view_as "
    "device sym_stride sym_numel sym_storage_offset is_pinned result_type".split()
)
"""Operations that start no kernel."""
GATHERS = frozenset("embedding index index_select gather".split())
"""Operations that read as much of their input as they write."""
CREATIONS = frozenset("new_zeros new_ones new_full zeros_like ones_like full_like".split())
"""Operations that only write: their input is an example of what to make."""
SCATTERS = frozenset({"index_put"})
"""Operations that change some rows in place, of which the values are the last tensor: the backward pass of
indexing does so, but not for tensors without numbers, of which PyTorch makes a new one."""
PRODUCTS = frozenset("mm addmm addmm_ bmm baddbmm".split())
TENSORS_TOGETHER = 100
"""Tensors that one kernel of a foreach operation handles, of 30 to 110."""
Storage = tuple[int, int]
"""Number of a storage, and the bytes that a kernel touches of it."""


@dataclass(frozen=True)
class Kernel:
    """An operation: its name, number of kernels, floating-point operations, storages read and written,
    whether its numbers are float32, the compiled region that it belongs to (None: eager), and the names of
    the operations that are fused in it."""

    name: str
    count: int
    flops: float
    reads: list[Storage]
    writes: list[Storage]
    single: bool
    region: int | None
    fused: str = ""

    @property
    def bytes(self) -> float:
        """Bytes moved if the kernel runs alone."""
        if self.name in SCATTERS:
            return 2.0 * self.reads[-1][1]
        written = sum(size for _, size in self.writes)
        return 2.0 * written if self.name in GATHERS else written + sum(size for _, size in self.reads)

    @property
    def is_product(self) -> bool:
        return self.name in PRODUCTS

    @property
    def is_attention(self) -> bool:
        return "attention" in self.name


@dataclass
class Regions:
    """Compiled regions: calls of functions that a compiler would fuse, with the backward pass of each.

    A call is recognised in the backward pass by the sequence numbers that autograd gave to its operations.
    """

    open: int | None = None
    ends: list[tuple[int, int]] = field(default_factory=list)

    @contextmanager
    def call(self) -> Iterator[None]:
        begin, self.open = torch._C._autograd._get_sequence_nr(), len(self.ends)
        self.ends.append((begin, begin))
        try:
            yield
        finally:
            self.ends[self.open] = begin, torch._C._autograd._get_sequence_nr()
            self.open = None

    def here(self) -> int | None:
        """Return the region of the operation that runs now; backward passes have negative numbers."""
        node = torch._C._current_autograd_node()
        if node is None or self.open is not None:
            return self.open
        number = node._sequence_nr()
        for region in reversed(range(len(self.ends))):
            begin, end = self.ends[region]
            if begin <= number < end:
                return -1 - region
        return None


REGIONS = Regions()


class KernelTrace(TorchDispatchMode):
    """Record kernels while `recording`; count the bytes of all storages on the device and their peak."""

    def __init__(self) -> None:
        super().__init__()
        self.kernels: list[Kernel] = []
        self.recording = False
        self.now = self.peak = 0
        self._numbers: Any = weakref.WeakKeyDictionary()
        self._counted = 0

    def __enter__(self) -> Self:
        super().__enter__()
        return self

    @contextmanager
    def record(self) -> Iterator[None]:
        """Record kernels and the peak of memory in this block only."""
        self.kernels.clear()
        self.peak, self.recording = self.now, True
        try:
            yield
        finally:
            self.recording = False

    def add(self, name: str, read: list[torch.Tensor], written: list[torch.Tensor], sizes: list[int]) -> None:
        """Add a kernel that is no operation of torch.

        `sizes`: bytes that it touches of each tensor read, then of each written."""
        if self.recording:
            touched = [(self._number(one), size) for one, size in zip([*read, *written], sizes, strict=True)]
            reads, writes = touched[: len(read)], touched[len(read) :]
            self.kernels.append(Kernel(name, 1, 0.0, reads, writes, single=True, region=None))

    def _number(self, tensor: torch.Tensor) -> int:
        storage = tensor.untyped_storage()
        if storage not in self._numbers:
            self._counted += 1
            self._numbers[storage] = self._counted
            size = -(-storage.size() // 512) * 512
            self.now += size
            self.peak = max(self.peak, self.now)
            weakref.finalize(storage, self._freed, size)
        return int(self._numbers[storage])

    def _freed(self, size: int) -> None:
        self.now -= size

    def _storages(self, tensors: list[torch.Tensor]) -> list[Storage]:
        return [(self._number(tensor), tensor.numel() * tensor.element_size()) for tensor in tensors]

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = op(*args, **(kwargs or {}))
        outputs = _on_device(made)
        name = op._schema.name.partition("::")[2]
        written = self._storages(outputs or _updated(name, args, kwargs or {}))
        inputs = _on_device((args, kwargs)) if self.recording and name not in VIEWS else []
        if self.recording and (inputs or outputs) and name not in VIEWS:
            together = name.startswith(("_foreach", "_fused"))
            self.kernels.append(
                Kernel(
                    name=name,
                    count=-(-len(inputs) // TENSORS_TOGETHER) if together else 1,
                    flops=flops(name, [t.shape for t in inputs], args),
                    reads=[] if name in CREATIONS else self._storages(inputs),
                    writes=written,
                    single=any(t.dtype == torch.float32 for t in inputs[-2:]),
                    region=REGIONS.here(),
                )
            )
        return made


def record_trainers_step(trace: KernelTrace, model: Any, **inputs: torch.Tensor) -> None:
    """Trace the second step of transformers' model as transformers' Trainer does it in bfloat16."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)

    def step() -> None:
        with torch.autocast("cuda", torch.bfloat16):
            loss = model(**inputs).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()

    step()
    with trace.record():
        step()


def _updated(name: str, args: Any, kwargs: Any) -> list[torch.Tensor]:
    """Return what a fused Adam writes: weights and moments, and gradients if it scales them."""
    if not name.startswith("_fused_adam"):
        return []
    scaled = kwargs.get("grad_scale") is not None
    return _on_device((args[0], args[2], args[3], args[1] if scaled else ()))


def _on_device(values: Any) -> list[torch.Tensor]:
    found = (leaf for leaf in tree_leaves(values) if isinstance(leaf, FakeTensor))
    return [tensor for tensor in found if tensor.device.type == "cuda"]


def flops(name: str, shapes: list[torch.Size], args: Any) -> float:
    """Return the operations of a matrix product or of attention; 0 for others.

    Attention without padding is counted as if every sequence were as long as the longest.
    """
    if name in ("mm", "addmm", "addmm_"):
        left, right = shapes[-2:]
        return 2.0 * left[0] * left[1] * right[1]
    if name in ("bmm", "baddbmm"):
        left, right = shapes[-2:]
        return 2.0 * left[0] * left[1] * left[2] * right[2]
    if "attention" not in name:
        return 0.0
    backward = "backward" in name
    query, key = shapes[1:3] if backward else shapes[:2]
    products = 5 if backward else 2
    if len(query) == 3:
        longest = next(value for value in args if isinstance(value, int))
        return 2.0 * products * query[0] * query[1] * longest * query[2]
    return 2.0 * products * query[0] * query[1] * query[2] * key[2] * query[3]


def choose_attention_kernels() -> None:
    """Let scaled dot-product attention on the pretended device use the kernel that PyTorch chooses on an H100
    without cuDNN: flash without a mask, else the memory-efficient one."""
    plain = F.scaled_dot_product_attention

    def attention(
        query: Any,
        key: Any,
        value: Any,
        attn_mask: Any = None,
        dropout_p: float = 0.0,
        *rest: Any,
        **more: Any,
    ) -> Any:
        if not (isinstance(query, FakeTensor) and query.device.type == "cuda"):
            return plain(query, key, value, attn_mask, dropout_p, *rest, **more)
        scale = more.get("scale")
        if attn_mask is None and query.dtype != torch.float32:
            flash = torch.ops.aten._scaled_dot_product_flash_attention
            return flash(query, key, value, dropout_p, False, False, scale=scale)[0]
        bias = None
        if attn_mask is not None:
            bias = attn_mask
            if bias.dtype == torch.bool:
                zero = torch.zeros((), dtype=query.dtype, device=query.device)
                bias = torch.where(bias, zero, torch.full_like(zero, float("-inf")))
            bias = bias.expand(*query.shape[:3], key.shape[2])
        efficient = torch.ops.aten._scaled_dot_product_efficient_attention
        return efficient(query, key, value, bias, True, dropout_p, False, scale=scale)[0]

    F.scaled_dot_product_attention = attention


def pretend_to_compile(function: Any = None, **settings: Any) -> Any:
    """Stand for torch.compile: the function runs as it is, and its kernels are marked as one region."""

    def region(*given: Any, **named: Any) -> Any:
        with REGIONS.call():
            return function(*given, **named)

    return (lambda f: pretend_to_compile(f, **settings)) if function is None else region

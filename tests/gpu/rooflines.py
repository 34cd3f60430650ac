"""Roofline: the seconds that the kernels of a trace take on an H100. An estimate, not a measurement.

A kernel takes the longest of three times: its arithmetic, its memory traffic, and the least time of any
kernel. The rates below were measured on an H100 SXM, not those of its data sheet. Rates of attention depend
on the length and those of products on the power limit, so predictions are ranges between `H100`, which counts
nothing against us, and `SLOW_H100`.

The kernels of a compiled region between two matrix products are fused: they read each of their inputs once
and write only what a later kernel reads. Reductions over rows (gradients of biases) read their inputs
again, unless these come from the kernel of a LayerNorm's backward pass, with which PyTorch's compiler fuses
them (`mix_order_reduction`).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import groupby

from benchmarks.kernel_classes import CLASSES, class_of
from tests.gpu.kernel_traces import Kernel


@dataclass(frozen=True)
class Device:
    """Rates of a GPU: operations per second of products in bfloat16 and float32, and of attention forward
    and backward; bytes per second; the least seconds of a kernel; the host's seconds to start one. `product`:
    rate of a large product, measured (8192 rows and columns), for MFU; `memory`: bytes."""

    products: float
    single_products: float
    attention: tuple[float, float]
    bandwidth: float
    kernel: float
    start: float
    product: float
    memory: float


H100 = Device(
    products=700e12,
    single_products=50e12,
    attention=(199e12, 164e12),
    bandwidth=2.8e12,
    kernel=2.5e-6,
    start=5e-6,
    product=798e12,
    memory=85e9,
)
"""Products: 684 TFLOP/s in a profile of BERT-base at 128 tokens. Attention: PyTorch 2.11's flash kernel at
512 tokens with dropout (256 and 182 without it; 252 and 189 in Dao-AILab/flash-attention#2688)."""
SLOW_H100 = replace(H100, products=600e12, attention=(112e12, 76e12), bandwidth=2.6e12)
"""Attention: the same at 128 tokens. Products, for larger shares of time at the power limit of 700 W, and
memory: assumed."""
OVER_ROWS, LAYER_NORM, FUSED = "sum", "native_layer_norm_backward", "fused"
Roofline = dict[str, float]


def roofline(trace: list[Kernel], device: Device = H100) -> Roofline:
    """Return `{"seconds", "kernels", "host"}` and those of `CLASSES`: seconds on the device, in all and by
    class; number of kernels; the host's seconds to start them, which hide behind the device's."""
    seconds: dict[str, float] = dict.fromkeys(CLASSES, 0.0)
    launches = 0
    for kernel in fused(trace):
        seconds[class_of(kernel.fused or kernel.name)] += max(
            seconds_of(kernel, device), kernel.count * device.kernel
        )
        launches += kernel.count
    host = launches * device.start
    return {"seconds": max(sum(seconds.values()), host), **seconds, "kernels": float(launches), "host": host}


def seconds_of(kernel: Kernel, device: Device) -> float:
    """Return the seconds of arithmetic or of memory traffic, whichever is longer."""
    rate = device.single_products if kernel.single else device.products
    if kernel.is_attention:
        rate = device.attention["backward" in kernel.name]
    return max(kernel.flops / rate, kernel.bytes / device.bandwidth)


def fused(trace: list[Kernel]) -> list[Kernel]:
    """Return the kernels after fusion in compiled regions."""
    last_read = {storage: at for at, kernel in enumerate(trace) for storage, _ in kernel.reads}
    found = list[Kernel]()
    for key, group in groupby(enumerate(trace), lambda pair: _fusion_key(*pair)):
        members = list(group)
        if key[0] is None:
            found += [kernel for _, kernel in members]
            continue
        found += _fuse_kernels(members, last_read)
    return found


def _fusion_key(at: int, kernel: Kernel) -> tuple[int | None, int]:
    """Return the region of a kernel that can be fused, and the number of the kernel if it cannot."""
    if kernel.region is None or kernel.is_product or kernel.is_attention:
        return None, at
    return kernel.region, 0


def _fuse_kernels(members: list[tuple[int, Kernel]], last_read: dict[int, int]) -> list[Kernel]:
    """Return one kernel for consecutive ones of a region, and those for reductions over rows; `last_read`:
    storage -> the last kernel that reads it."""
    end, region = members[-1][0], members[0][1].region
    over_rows = [kernel for _, kernel in members if kernel.name == OVER_ROWS]
    rowwise = [kernel for _, kernel in members if kernel.name != OVER_ROWS]
    names = " ".join(kernel.name for kernel in rowwise)
    alone = [Kernel("over rows", 1, 0.0, kernel.reads, [], False, region) for kernel in over_rows]
    norms = [kernel.reads for kernel in rowwise if kernel.name == LAYER_NORM]
    alone += [
        Kernel("over rows", 1, 0.0, [*reads, *reads], [], False, region, fused=LAYER_NORM) for reads in norms
    ]
    if not rowwise:
        return alone
    read_here = {storage for kernel in over_rows for storage, _ in kernel.reads}
    written = _largest_parts(storage for kernel in rowwise for storage in kernel.writes)
    seen, reads = set[int](), dict[int, int]()
    for kernel in rowwise:
        for storage, size in kernel.reads:
            if storage not in seen:
                reads[storage] = max(size, reads.get(storage, 0))
        seen |= {storage for storage, _ in kernel.writes}
    kept = {
        storage: size
        for storage, size in written.items()
        if last_read.get(storage, -1) > end or storage in read_here
    }
    return [
        Kernel(FUSED, 1, 0.0, list(reads.items()), list(kept.items()), False, region, fused=names),
        *alone,
    ]


def _largest_parts(storages: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Return the largest part of each storage that is touched."""
    found = dict[int, int]()
    for storage, size in storages:
        found[storage] = max(size, found.get(storage, 0))
    return found

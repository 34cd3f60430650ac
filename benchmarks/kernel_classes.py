"""Time of a program's kernels by class, from torch.profiler."""

import re
from collections.abc import Callable
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

PATTERNS = {
    "attention": r"flash|fmha|attention",
    "optimiser": r"foreach|multi_tensor|adam",
    "products": r"gemm|nvjet|cutlass|cublas|xmma|^(mm|addmm_?|bmm|baddbmm)$",
    "GELU": r"gelu",
    "norm": r"layer_?norm",
}
"""Class -> what names of its kernels match; the first class counts, as names of some have parts of others."""
REST, IDLE = "rest", "idle"
CLASSES = (*PATTERNS, REST)


def class_of(name: str) -> str:
    """Return the class of a kernel; of a fused one, that of the operations in its name."""
    found = (kind for kind, pattern in PATTERNS.items() if re.search(pattern, name, re.IGNORECASE))
    return next(found, REST)


Kernel = tuple[float, float, str]
"""Begin and end in microseconds, and name."""


def kernels_of(step: Callable[[], Any], steps: int) -> list[Kernel]:
    """Return the kernels of some steps; on a processor, which has none, operations in their own time."""
    on_gpu = torch.cuda.is_available()
    with profile(activities=[ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if on_gpu else [])]) as profiler:
        for _ in range(steps):
            step()
        if on_gpu:
            torch.cuda.synchronize()
    return [
        (one.time_range.start, one.time_range.start + _own_time(one), one.name.removeprefix("aten::"))
        for one in profiler.events() or []
        if one.device_type.name == ("CUDA" if on_gpu else "CPU")
    ]


def longest(kernels: list[Kernel], count: int) -> list[tuple[str, int, float]]:
    """Return name, number of calls and seconds of the kernels that take most time together."""
    found: dict[str, list[float]] = {}
    for begin, end, name in kernels:
        found.setdefault(name, []).append(end - begin)
    summed = ((name, len(times), sum(times) / 1e6) for name, times in found.items())
    return sorted(summed, key=lambda one: -one[2])[:count]


def _own_time(event: Any) -> float:
    """Return the microseconds of an event without those of the operations that it calls."""
    return float(
        event.time_range.elapsed_us() if event.device_type.name == "CUDA" else event.self_cpu_time_total
    )


def sums(kernels: list[Kernel]) -> dict[str, float]:
    """Return the microseconds of kernels by class, and those between them (`IDLE`)."""
    found = dict.fromkeys((*CLASSES, IDLE), 0.0)
    until = min((begin for begin, _, _ in kernels), default=0.0)
    for begin, end, name in sorted(kernels):
        found[class_of(name)] += end - begin
        found[IDLE] += max(0.0, begin - until)
        until = max(until, end)
    return found

"""Time of a program's kernels by class, from torch.profiler; traces of tests/gpu use the same classes."""

import re
from collections.abc import Callable
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile

PATTERNS = {
    "attention": r"flash|fmha|attention",
    "optimiser": r"foreach|multi_tensor|adam|lamb",
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


def seconds_by_class(step: Callable[[], Any], steps: int) -> dict[str, float]:
    """Return the seconds of a step by class of kernel, and those in which none runs (`IDLE`).

    On a processor, which has no kernels, the own time of an operation stands for one.
    """
    on_gpu = torch.cuda.is_available()
    with profile(activities=[ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if on_gpu else [])]) as profiler:
        for _ in range(steps):
            step()
        if on_gpu:
            torch.cuda.synchronize()
    kernels = [
        (one.time_range.start, one.time_range.start + _own_time(one), one.name.removeprefix("aten::"))
        for one in profiler.events() or []
        if one.device_type.name == ("CUDA" if on_gpu else "CPU")
    ]
    return {name: microseconds / 1e6 / steps for name, microseconds in sums(kernels).items()}


def _own_time(event: Any) -> float:
    """Return the microseconds of an event without those of the operations that it calls."""
    return float(
        event.time_range.elapsed_us() if event.device_type.name == "CUDA" else event.self_cpu_time_total
    )


def sums(kernels: list[tuple[float, float, str]]) -> dict[str, float]:
    """Return the time of kernels (begin, end, name) by class, and the time between them."""
    found = dict.fromkeys((*CLASSES, IDLE), 0.0)
    until = min((begin for begin, _, _ in kernels), default=0.0)
    for begin, end, name in sorted(kernels):
        found[class_of(name)] += end - begin
        found[IDLE] += max(0.0, begin - until)
        until = max(until, end)
    return found

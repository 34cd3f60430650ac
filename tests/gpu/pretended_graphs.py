"""CUDA graphs of the pretended device: kernels of a recording are listed again by each replay.

A recording in which the host waits for the device, or copies from pageable memory, fails, as on a real one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import transformers.masking_utils

from tests.gpu.kernel_traces import Kernel, KernelTrace
from tests.gpu.pretended_cuda import Watch

UPDATE = "aten::_fused_adamw_.tensor_lr"
LIBRARY = torch.library.Library("aten", "IMPL")


class Graphs:
    """The graphs of a trace; `replays` and `replayed` (kernels) count since the trace began to record."""

    def __init__(self, trace: KernelTrace) -> None:
        self.trace, self.capturing, self.replays, self.replayed = trace, False, 0, 0

    def replay(self, kernels: list[Kernel]) -> None:
        if self.trace.recording:
            self.trace.kernels += kernels
            self.replays += 1
            self.replayed += sum(kernel.count for kernel in kernels)

    @contextmanager
    def capture(self, graph: "Graph", pool: Any = None) -> Iterator[None]:
        trace = self.trace
        start, was, trace.recording, self.capturing = len(trace.kernels), trace.recording, True, True
        try:
            with Watch() as watch:
                yield
        finally:
            trace.recording, self.capturing = was, False
            graph.kernels = trace.kernels[start:]
            del trace.kernels[start:]
        if watch.waits or watch.copies:
            raise RuntimeError(f"operation not permitted when stream is capturing: {watch.found()}")


class Graph:
    """A recording."""

    def __init__(self, graphs: Graphs) -> None:
        self.graphs = graphs
        self.kernels: list[Kernel] = []

    def replay(self) -> None:
        self.graphs.replay(self.kernels)


def pretend_to_record(trace: KernelTrace) -> Graphs:
    """Give the pretended device CUDA graphs whose kernels the trace lists; patches torch and transformers for
    the rest of the process."""
    graphs = Graphs(trace)
    torch.cuda.graph_pool_handle = lambda: None  # type: ignore[assignment,return-value]
    torch.cuda.CUDAGraph = lambda: Graph(graphs)  # type: ignore[misc,assignment]
    torch.cuda.graph = graphs.capture  # type: ignore[misc,assignment]
    if not torch._C._dispatch_has_kernel_for_dispatch_key(UPDATE, "Meta"):
        LIBRARY.impl(
            UPDATE, lambda *given, **named: None, "Meta"
        )  # It changes tensors, which have no values.
    # transformers takes tensors without values for a compiler's; on a real device, it asks only here.
    vars(transformers.masking_utils)["is_tracing"] = lambda tensor=None: graphs.capturing
    return graphs

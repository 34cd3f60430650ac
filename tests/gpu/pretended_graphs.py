"""CUDA graphs of the pretended device: a replay is counted.

A recording in which the host waits for the device, copies from pageable memory or raises an error fails, as
on a real one: its end is an error, the stream is then still that of the recording, the generator of random
numbers still records, and no further recording can use the same memory.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
import transformers.masking_utils

from tests.gpu import pretended_triton
from tests.gpu.pretended_cuda import Watch

UPDATE = "aten::_fused_adamw_.tensor_lr"
LIBRARY = torch.library.Library("aten", "IMPL")


class Generator:
    """Random numbers of the device: `state` holds whether they are those of a recording."""

    def __init__(self) -> None:
        self.state = {"recording": False}

    def clone_state(self) -> "Generator":
        found = Generator()
        found.state |= self.state
        return found

    def graphsafe_set_state(self, other: "Generator") -> None:
        self.state = other.state


class Graphs:
    """The graphs of a device, and how often any of them was replayed."""

    def __init__(self) -> None:
        self.capturing, self.replays = False, 0
        self.stream, self.generator = "usual", Generator()
        self.invalidated = list[object]()

    def functions(self) -> dict[str, Any]:
        """Return what replaces names of torch.cuda."""
        return {
            "graph_pool_handle": object,
            "CUDAGraph": lambda: Graph(self),
            "graph": self.capture,
            "current_stream": lambda: self.stream,
            "set_stream": lambda stream: setattr(self, "stream", stream),
            "default_generators": (self.generator,),
        }

    @contextmanager
    def capture(self, graph: "Graph", pool: Any = None) -> Iterator[None]:
        if pool in self.invalidated:
            raise RuntimeError("an earlier recording in this memory has not ended")
        self.capturing = True
        stream, self.stream, self.generator.state["recording"] = self.stream, "recording", True
        try:
            with Watch() as watch:
                yield
        except Exception:
            self.invalidated.append(pool)
            raise RuntimeError("operation failed due to a previous error during capture")  # noqa: B904
        finally:
            self.capturing = False
        if watch.waits or watch.copies:
            self.invalidated.append(pool)
            raise RuntimeError(f"operation not permitted when stream is capturing: {watch.found()}")
        self.stream, self.generator.state["recording"] = stream, False


class Graph:
    def __init__(self, graphs: Graphs) -> None:
        self.graphs = graphs

    def replay(self) -> None:
        self.graphs.replays += 1


def pretend_to_record() -> Graphs:
    """Give the pretended device CUDA graphs, and Triton; patches torch and transformers for the rest of the
    process."""
    graphs = Graphs()
    pretended_triton.install()
    vars(torch.cuda).update(graphs.functions())
    if not torch._C._dispatch_has_kernel_for_dispatch_key(UPDATE, "Meta"):
        LIBRARY.impl(
            UPDATE, lambda *given, **named: None, "Meta"
        )  # It changes tensors, which have no values.
    # transformers takes tensors without values for a compiler's; on a real device, it asks only here.
    vars(transformers.masking_utils)["is_tracing"] = lambda tensor=None: graphs.capturing
    return graphs

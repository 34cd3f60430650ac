"""Passes of an encoder and updates as CUDA graphs, one pair for each shape of its inputs.

A graph repeats recorded kernels on the same memory, launched by the host at once. The head and its loss,
which are few kernels of many shapes, run between the two graphs as usual.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import torch

from pubmill.finetuning.heads import TaskModel
from pubmill.messages.progress import report_progress

Made = TypeVar("Made")


class Recorder(Protocol):
    """Record some work without doing it; return what replays it, and its result, which replays fill."""

    def __call__(self, work: Callable[[], Made], /) -> tuple[Callable[[], None], Made]: ...


def cuda_recorder() -> Recorder:
    """Return a recorder of CUDA graphs that share their memory.

    Sharing is safe because a step's two graphs are replayed one after the other, and what outlives them is
    kept by `Passes`.
    """
    pool = torch.cuda.graph_pool_handle()

    def record(work: Callable[[], Made]) -> tuple[Callable[[], None], Made]:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=pool):
            made = work()
        return graph.replay, made

    return record


@dataclass(kw_only=True)
class Passes:
    """Recorded passes for one shape: `forward` fills `encodings` from `inputs`; `backward` reads `gradient`,
    that of the encodings, and updates the weights."""

    inputs: torch.Tensor
    encodings: torch.Tensor
    gradient: torch.Tensor
    forward: Callable[[], None]
    backward: Callable[[], None]
    leaf: torch.Tensor = field(init=False)

    def encode(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the encodings of other inputs of the same shape, for a loss to be differentiated by."""
        self.inputs.copy_(inputs)
        self.forward()
        self.leaf = self.encodings.detach().requires_grad_()
        return self.leaf

    def update(self) -> None:
        """Update the weights by the gradient of the last encodings."""
        assert self.leaf.grad is not None
        self.gradient.copy_(self.leaf.grad)
        self.backward()
        del self.leaf


class RecordedPasses:
    """The passes of all shapes so far.

    The first step with a shape is done as usual, which also prepares the libraries; the second is recorded.
    If the encoder cannot be recorded, `refused` is the reason, and all steps are done as usual.
    """

    def __init__(
        self, model: TaskModel, update: Callable[[], None], clear: Callable[[], None], recorder: Recorder
    ) -> None:
        self._model, self._update, self._clear, self._recorder = model, update, clear, recorder
        self._passes: dict[torch.Size, Passes | None] = {}
        self.refused: str | None = None

    def find(self, inputs: torch.Tensor) -> Passes | None:
        """Return the passes for the shape of these inputs; None if the step must be done as usual."""
        shape = inputs.shape
        if self.refused is None and self._passes.get(shape, ...) is None:
            try:
                self._passes[shape] = self._record(inputs)
            except RuntimeError as error:
                self.refused = str(error).partition("\n")[0]
                self._passes.clear()
                self._clear()
                report_progress(f"steps are not recorded as CUDA graphs: {self.refused}")
        return self._passes.setdefault(shape, None)

    @property
    def shapes(self) -> int:
        """Number of recorded shapes."""
        return sum(passes is not None for passes in self._passes.values())

    def _record(self, inputs: torch.Tensor) -> Passes:
        inputs = inputs.clone()
        forward, encodings = self._recorder(lambda: self._model.encode(inputs))
        gradient = torch.zeros_like(encodings)

        def learn() -> None:
            if encodings.requires_grad:
                encodings.backward(gradient)  # type: ignore[no-untyped-call]
            self._update()

        backward, _ = self._recorder(learn)
        return Passes(
            inputs=inputs,
            encodings=encodings.detach(),
            gradient=gradient,
            forward=forward,
            backward=backward,
        )

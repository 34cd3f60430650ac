"""Parts of training steps as CUDA graphs, recorded once for each shape of their tensors.

A graph repeats recorded kernels on the same memory, launched by the host at once. A part is one graph if the
shapes in head and loss depend on those of the inputs alone. Otherwise head and loss, which are few kernels of
many shapes, run as usual between two graphs: the encoder, and its backward pass. The graph of a batch's last
part, mostly the only one, contains the update.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, Protocol, TypeVar

import torch
from torch import Tensor

from pubmill.finetuning.heads import TaskModel
from pubmill.finetuning.inputs import Batch
from pubmill.finetuning.weight_updates import Place, RecordableAdam
from pubmill.messages.progress import report_slower

Made = TypeVar("Made")
Loss = Callable[[Tensor, Batch, Tensor], Tensor]
"""Mean loss of a batch's encodings and targets."""


class Recorder(Protocol):
    """Record work without doing it; return a function that replays it, and the result that replays fill."""

    def __call__(self, work: Callable[[], Made], /) -> tuple[Callable[[], None], Made]: ...


def cuda_recorder() -> Recorder:
    """Return a recorder of CUDA graphs that share their memory.

    Sharing is safe because graphs are replayed one after another, and what outlives them is kept by the steps
    below. After a failed recording, the stream and the generator of random numbers are restored, and later
    recordings share other memory. PyTorch does not restore them if the end of the recording fails too: the
    next dropout would then raise an error, and so would a recording in the same memory.
    """
    pools = [torch.cuda.graph_pool_handle()]

    def record(work: Callable[[], Made]) -> tuple[Callable[[], None], Made]:
        graph, stream = torch.cuda.CUDAGraph(), torch.cuda.current_stream()
        generator = torch.cuda.default_generators[torch.cuda.current_device()]
        before = generator.clone_state()
        try:
            with torch.cuda.graph(graph, pool=pools[-1]):
                made = work()
        except RuntimeError as error:
            torch.cuda.set_stream(stream)
            generator.graphsafe_set_state(before)
            pools.append(torch.cuda.graph_pool_handle())
            # The end of a recording without enough memory is an error, too.
            if isinstance(error.__context__, torch.OutOfMemoryError):
                raise error.__context__ from None
            raise
        return graph.replay, made

    return record


Step = Callable[[Batch, Tensor, float], Tensor]
"""Learn a part, given its targets and its share of the batch's targets, by which its mean loss is multiplied;
update the weights if it is the last; return its loss, multiplied."""


class RecordedSteps:
    """Recorded training steps, one for each combination of tensor shapes and place in a batch so far.

    The first step with certain shapes runs as usual, which also prepares the libraries; the second is
    recorded. `graphs`: graphs per part, 1 or 2; 0 after a recording failed, because CUDA may refuse others
    too: all further steps then run as usual. `refused`: why it failed. Too little memory is no such failure:
    the error is raised, and the step is recorded again with a smaller batch.
    """

    def __init__(
        self, model: TaskModel, loss: Loss, adam: RecordableAdam, recorder: Recorder, whole: bool
    ) -> None:
        self._model, self._loss, self._adam = model, loss, adam
        self._recorder = recorder
        self._steps: dict[tuple[Place, tuple[torch.Size, ...]], Step | None] = {}
        self.graphs: Literal[0, 1, 2] = 1 if whole else 2
        self.refused: str | None = None

    def find(self, batch: Batch, targets: Tensor, place: Place) -> Step | None:
        """Return the step for these shapes and this place; None if it must be done as usual."""
        tensors = tensors_of(batch, targets) if self.graphs == 1 else [batch.inputs]
        key = place, tuple(tensor.shape for tensor in tensors)
        if self.graphs and self._steps.get(key, ...) is None:
            try:
                record = self._record_whole if self.graphs == 1 else self._record_divided
                self._steps[key] = record(batch, targets, place)
            except torch.OutOfMemoryError:
                raise
            except RuntimeError as error:
                # The context is the cause; the error itself may only state that the recording has failed.
                self.refused = str(error.__context__ or error).partition("\n")[0]
                self._steps.clear()
                self._adam.clear()
                self.graphs = 0
                fault = f"a step cannot be recorded ({self.refused})"
                report_slower(f"{fault}; steps are done without CUDA graphs")
                return None
        return self._steps.setdefault(key, None)

    @property
    def shapes(self) -> int:
        return sum(step is not None for step in self._steps.values())

    def _record_whole(self, batch: Batch, targets: Tensor, place: Place) -> Step:
        factor = torch.ones((), device=targets.device)
        targets, places = targets.clone(), None if batch.places is None else batch.places.clone()
        batch = replace(batch, inputs=batch.inputs.clone(), places=places)

        def learn() -> Tensor:
            loss = self._loss(self._model.encode(batch.inputs), batch, targets) * factor
            loss.backward()  # type: ignore[no-untyped-call]
            self._adam.finish(place)
            return loss.detach()

        replay, loss = self._recorder(learn)

        def step(given: Batch, wanted: Tensor, share: float) -> Tensor:
            factor.fill_(share)
            for recorded, new in zip(tensors_of(batch, targets), tensors_of(given, wanted), strict=True):
                recorded.copy_(new)
            replay()
            return loss.clone()

        return step

    def _record_divided(self, batch: Batch, targets: Tensor, place: Place) -> Step:
        """Record the step as two graphs: one writes the encodings; one reads their gradient, and ends it. The
        step holds neither the history of the encodings, whose memory later recordings share, nor `self`."""
        inputs, loss_of = batch.inputs.clone(), self._loss
        forward, encodings = self._recorder(lambda: self._model.encode(inputs))
        gradient, written = torch.zeros_like(encodings), encodings.detach()

        def learn() -> None:
            if encodings.requires_grad:
                encodings.backward(gradient)  # type: ignore[no-untyped-call]
            self._adam.finish(place)

        backward, _ = self._recorder(learn)

        def step(batch: Batch, targets: Tensor, share: float) -> Tensor:
            inputs.copy_(batch.inputs)
            forward()
            leaf = written.detach().requires_grad_()
            loss = loss_of(leaf, batch, targets) * share
            loss.backward()  # type: ignore[no-untyped-call]
            assert leaf.grad is not None
            gradient.copy_(leaf.grad)
            backward()
            return loss.detach()

        return step


def tensors_of(batch: Batch, targets: Tensor) -> list[Tensor]:
    """Return the tensors of a batch that head and loss read."""
    return [batch.inputs, targets, *([] if batch.places is None else [batch.places])]

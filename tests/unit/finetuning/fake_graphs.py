"""A stand-in for CUDA graphs on a processor: it records operations on tensors and replays them in place.

As in a graph, addresses and numbers of the host are those of the recording, and recording changes nothing.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from pubmill.finetuning import predicting, trainer
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.predicting import Execution
from pubmill.finetuning.run import Run, finetune
from pubmill.finetuning.weight_updates import working_copy
from pubmill.recipes import FinetuningRecipe

Made = TypeVar("Made")


def tensors(values: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)]


def place(tensor: torch.Tensor) -> int:
    """Address of the tensor's memory, which a recording holds."""
    return tensor.untyped_storage().data_ptr()


class Recording(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.operations: list[tuple[Any, Any, Any, Any]] = []
        self.created: set[int] = set()
        self.before: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        for argument, value in zip(op._schema.arguments, args, strict=False):
            if argument.alias_info is not None and argument.alias_info.is_write:
                for tensor in tensors(value):
                    if place(tensor) not in self.created | self.before.keys():
                        self.before[place(tensor)] = (tensor, tensor.clone())
        made = op(*args, **kwargs)
        known = {place(tensor) for tensor in tensors((args, kwargs))}
        self.created |= {place(tensor) for tensor in tensors(made)} - known
        self.operations.append((op, args, kwargs, made))
        return made

    def undo(self) -> None:
        for tensor, value in self.before.values():
            tensor.copy_(value)

    @torch.no_grad()
    def replay(self) -> None:
        for op, args, kwargs, made in self.operations:
            for new, old in zip(tensors(op(*args, **kwargs)), tensors(made), strict=True):
                if new.data_ptr() != old.data_ptr():
                    old.copy_(new)


class FakeRecorder:
    """Recorder whose replays are counted."""

    def __init__(self) -> None:
        self.recordings: list[Recording] = []
        self.replays = 0

    def __call__(self, work: Callable[[], Made], /) -> tuple[Callable[[], None], Made]:
        recording, state = Recording(), torch.get_rng_state()
        with recording:
            made = work()
        with torch.no_grad():
            recording.undo()
        torch.set_rng_state(state)
        self.recordings.append(recording)

        def replay() -> None:
            self.replays += 1
            recording.replay()

        return replay, made


def refuse(work: Any) -> Any:
    raise RuntimeError("operation not permitted when stream is capturing\nmore")


@contextmanager
def on_gpu(
    recorder: Any, update: Any = None, weights: torch.dtype = torch.float32, **execution: Any
) -> Iterator[None]:
    """Let fine-tuning compute as on a GPU: with a working copy of these weights, whose steps `recorder`
    (or one of this type for each training) records, and with `update` for its large weights; `execution`:
    other values of `Execution`."""
    chosen = replace(Execution(weights="bfloat16", width=16), **execution)
    with (
        patch.object(predicting, "choose_execution", lambda device, precision: chosen),
        patch.object(predicting, "working_copy", lambda model, dtype: working_copy(model, weights)),
        patch.object(trainer, "cuda_recorder", recorder if isinstance(recorder, type) else lambda: recorder),
        patch.object(trainer, "compile_update", lambda device: (update, None)),
    ):
        yield


def learnt(recipe: FinetuningRecipe, cases: Path, dev: str | None = None) -> Run:
    """Fine-tune on the examples of the recipe's task (fixture `cases`)."""
    made = finetune(FinetuningJob(recipe, cases / "bert", cases / recipe.task, 1, "test", dev))
    assert isinstance(made, Run)
    return made


def assert_same(one: Run, other: Run) -> None:
    assert one.report["loss_by_epoch"] == other.report["loss_by_epoch"]
    weights, same = one.model.state_dict(), other.model.state_dict()
    assert weights.keys() == same.keys() and all(weights[key].equal(same[key]) for key in same)


def assert_close(one: Run, other: Run, atol: float = 1e-5) -> None:
    """The same but for rounding. Biases of keys, and of scores of starts and ends, have no effect, so Adam
    makes steps of their rounding errors."""
    assert one.report["loss_by_epoch"] == pytest.approx(other.report["loss_by_epoch"], rel=1e-4)
    without = ("key.bias", "head.linear.bias" if "answerable" in one.task.labels else "key.bias")
    weights, same = (
        {name: value for name, value in run.model.state_dict().items() if not name.endswith(without)}
        for run in (one, other)
    )
    torch.testing.assert_close(weights, same, rtol=1e-3, atol=atol)

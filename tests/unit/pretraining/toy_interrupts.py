"""Pretrainings that are asked to stop or lack memory, and the marks of the longest tests."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from pubmill.errors import StopRequestedError
from pubmill.pretraining.checkpoints import partial_folder
from pubmill.pretraining.engine import Computation, Pretraining
from pubmill.pretraining.micro_batches import Part
from tests.unit.pretraining.toy_pretraining import pretrain

WEEKLY = (pytest.mark.long, pytest.mark.weekly)


def interrupted(
    data: Path, output: Path, to: int, at: int, how: signal.Signals = signal.SIGTERM, **more: Any
) -> Path:
    """Ask a segment to stop while it is doing step `at`; return its save."""
    update = Pretraining.update

    def stop(self: Pretraining, step: int) -> dict[str, float]:
        if step + 1 == at:
            os.kill(os.getpid(), how)
        return update(self, step)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(StopRequestedError) as ended:
        patch.setattr(Pretraining, "update", stop)
        pretrain(data, output, to, **more)
    assert ended.value.number == how
    return partial_folder(output) / f"step-{at}"


def lack_memory(patch: pytest.MonkeyPatch, lacks: Callable[[int, Part], bool]) -> list[int]:
    """Let micro-batches need too much memory, by their number, counted from 1, and themselves. Return the
    list of their sizes in tokens, which grows as they come."""
    process, sizes = Computation.process, list[int]()

    def processing(self: Computation, part: Part, *rest: Any, **named: Any) -> Any:
        sizes.append(part.ids.numel())
        if lacks(len(sizes), part):
            raise torch.OutOfMemoryError("CUDA out of memory")
        return process(self, part, *rest, **named)

    patch.setattr(Computation, "process", processing)
    return sizes

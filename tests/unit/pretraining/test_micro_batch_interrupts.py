"""A stop and a lack of memory in the middle of a step."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import StopRequestedError
from pubmill.pretraining import batch_preparation
from pubmill.pretraining.engine import Computation
from pubmill.pretraining.micro_batches import Part
from tests.unit.pretraining.toy_interrupts import lack_memory
from tests.unit.pretraining.toy_pretraining import RECIPE, losses, pretrain, weights

TO = 6


@pytest.fixture(autouse=True)
def small_micro_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four micro-batches a step."""
    monkeypatch.setitem(batch_preparation.TOKENS_AT_ONCE, "cpu", 2 * RECIPE.sequence_length)


def stop_in(monkeypatch: pytest.MonkeyPatch, micro_batch: int) -> list[int]:
    """Send SIGTERM during a micro-batch, counted from the first of all; return their sizes as they come."""
    add, sizes = Computation.process, list[int]()

    def adding(self: Computation, part: Part, *rest: Any) -> Any:
        sizes.append(len(part.ids))
        found = add(self, part, *rest)
        if len(sizes) == micro_batch:
            os.kill(os.getpid(), signal.SIGTERM)
        return found

    monkeypatch.setattr(Computation, "process", adding)
    return sizes


@pytest.mark.parametrize(("micro_batch", "saved"), [(3, None), (12, 3), (25, 6)])
def test_a_stop_between_micro_batches_drops_the_step_and_resumes_bit_for_bit(
    data: Path, tmp_path: Path, capsys: Any, micro_batch: int, saved: int | None
) -> None:
    """The twelfth is the last of the third step; after the sixth step come those of held-out texts."""
    whole = pretrain(data, tmp_path / "whole", TO)
    with pytest.MonkeyPatch.context() as patch:
        sizes = stop_in(patch, micro_batch)
        with pytest.raises(StopRequestedError) as ended:
            pretrain(data, tmp_path / "step-6", TO)
    assert ended.value.number == signal.SIGTERM and len(sizes) == micro_batch
    saves = [path.name for path in (tmp_path / ".step-6.partial").glob("step-*")]
    assert saves == ([f"step-{saved}"] if saved else [])
    assert "asked to stop" in capsys.readouterr().err
    output = pretrain(data, tmp_path / "step-6", TO)
    assert weights(output) == weights(whole) and losses(output) == losses(whole)


def test_micro_batches_that_were_small_from_the_start_give_the_same_bytes(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with dropout: the step that is done again draws its random numbers from the start."""
    with pytest.MonkeyPatch.context() as patch:
        lack_memory(patch, lambda count, part: len(part.ids) > 1)
        halved = pretrain(data, tmp_path / "halved", TO)
    monkeypatch.setitem(batch_preparation.TOKENS_AT_ONCE, "cpu", RECIPE.sequence_length)
    small = pretrain(data, tmp_path / "small", TO)
    assert weights(halved) == weights(small) and losses(halved) == losses(small)

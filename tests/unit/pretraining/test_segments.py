"""When a segment saves, logs and reports, what it refuses, and how a rising loss is noticed."""

import sys
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from pubmill.errors import PubmillError, StopRequestedError
from pubmill.pretraining import segments
from pubmill.pretraining.checkpoints import BackgroundSaves, PretrainingProgress
from pubmill.pretraining.distributed import World
from pubmill.pretraining.engine import Pretraining, learning_rate
from pubmill.pretraining.segments import event_writer, log_line, means, progress_line, write_events
from pubmill.recipes.objectives import Term
from tests.unit.pretraining.toy_pretraining import RECIPE, changed, log, pretrain, state

MLM = Term("mlm", 1.0, "masked", chooses=True)


@pytest.fixture
def saves(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Steps at which a running segment is saved; ten seconds pass between two looks at the clock."""
    found: list[int] = []
    clock = count(0, 10)
    times = SimpleNamespace(monotonic=lambda: float(next(clock)), process_time=lambda: 0.0)
    monkeypatch.setattr(segments, "time", times)
    monkeypatch.setattr(
        BackgroundSaves, "save", lambda self, work, progress, known: found.append(progress.step)
    )
    return found


def test_a_save_is_due_when_so_many_minutes_have_passed(
    data: Path, tmp_path: Path, saves: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    """A step takes 30 seconds on this clock; the last one is the segment's end."""
    made = pretrain(data, tmp_path / "step-6", 6, save_minutes=1.0, recipe=changed(steps=6))
    assert saves == [2, 4]
    lines = log(made)
    assert [line["step"] for line in lines] == [1, 2, 3, 4, 5, 6]
    assert [line["seconds"] for line in lines] == [10.0, 20.0, 30.0, 40.0, 50.0, 60.0]
    assert state(made)["seconds"] == 60.0 and state(made)["tokens"] == lines[-1]["tokens"]
    shown = [line for line in capsys.readouterr().err.splitlines() if "tokens/s" in line]
    assert len(shown) == 6 and "step 6/6 (of 6)" in shown[-1]


def test_no_save_is_replaced_while_the_loss_is_suspicious(
    data: Path, tmp_path: Path, saves: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "SUSPICIOUS", -1.0)
    pretrain(data, tmp_path / "step-4", 4, save_minutes=0)
    assert saves == []


@pytest.mark.parametrize(("last", "saved"), [(0, []), (2, [2])])
def test_a_stop_before_the_first_step_saves_nothing_and_one_later_does(
    last: int, saved: list[int], data: Path, tmp_path: Path, saves: list[int], monkeypatch: Any, capsys: Any
) -> None:
    update = Pretraining.update

    def stop(self: Pretraining, step: int) -> dict[str, float]:
        if step == last:
            raise StopRequestedError
        return update(self, step)

    monkeypatch.setattr(Pretraining, "update", stop)
    with pytest.raises(StopRequestedError) as caught:
        pretrain(data, tmp_path / "step-4", 4)
    assert saves == saved and caught.value.number == 15  # SIGTERM
    assert ("asked to stop before another step" in capsys.readouterr().err) == (last == 0)


@pytest.mark.parametrize(("steps", "logged"), [(10, [2, 4, 6, 8, 10]), (9, [2, 4, 6, 8, 9]), (3, [1, 2, 3])])
def test_about_so_many_lines_are_logged_with_means_since_the_last_one(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int, logged: list[int]
) -> None:
    monkeypatch.setattr(segments, "LOG_LINES", 4)
    recipe, update, seen = changed(steps=steps), Pretraining.update, list[dict[str, float]]()

    def observed(self: Pretraining, step: int) -> dict[str, float]:
        seen.append(dict(update(self, step)))
        return dict(seen[-1])

    monkeypatch.setattr(Pretraining, "update", observed)
    lines = log(pretrain(data, tmp_path / "s", steps, recipe=recipe))
    assert [line["step"] for line in lines] == logged
    for begin, line in zip([0, *logged], lines, strict=False):
        some = seen[begin : line["step"]]
        mean = sum(one["mlm_loss"] for one in some) / sum(one["masked"] for one in some)
        assert line["mlm_loss"] == pytest.approx(mean)
        assert line["tokens"] == sum(one["tokens"] for one in seen[: line["step"]])
        assert line["learning_rate"] == learning_rate(recipe.optimisation, line["step"] - 1, steps)


def count_loss(progress: PretrainingProgress, loss: float, averaged: int = 1, limit: float = 1.0) -> None:
    sums = {"mlm_loss": 4 * loss, "masked": 4.0, "tokens": 20.0, "flops": 7.0}
    sums |= {"seconds": 0.5, "processor_seconds": 0.25}
    progress.count(sums, averaged, limit, MLM)


def test_the_loss_is_averaged_over_the_last_steps() -> None:
    progress, averages = PretrainingProgress(), []
    for loss in (4.0, 2.0, 3.0, 6.0, 0.0):
        count_loss(progress, loss, averaged=3, limit=9.0)
        averages.append(progress.average)
    assert averages == pytest.approx([4.0, 3.0, 3.0, 4.0, 8 / 3])
    assert progress.lowest == pytest.approx(8 / 3)
    assert (progress.step, progress.tokens, progress.seconds) == (5, 100, 2.5)
    assert (progress.operations, progress.processor_seconds) == (35.0, 1.25)
    seconds = {"seconds": 2.5, "processor_seconds": 1.25}
    assert progress.pending == {"mlm_loss": 60.0, "masked": 20.0, "tokens": 100.0, "flops": 35.0} | seconds


def test_a_loss_may_rise_by_just_the_limit() -> None:
    progress = PretrainingProgress()
    assert not progress.suspicious(0.0)
    for loss in (3.0, 2.0, 3.0):
        count_loss(progress, loss)
    assert progress.lowest == 2.0 and not progress.suspicious(1.0) and progress.suspicious(0.9)
    with pytest.raises(FloatingPointError, match=r"has risen from 2\.00 to 3\.01"):
        count_loss(progress, 3.01)
    assert progress.step == 3 and progress.tokens == 60  # the step is not counted
    progress, sums = PretrainingProgress(), dict.fromkeys(("mlm_loss", "masked", "seconds"), 0.0)
    progress.count(sums | {"tokens": 2.0, "flops": 1.0, "processor_seconds": 0.1}, 50, 1.0, MLM)
    assert progress.average == 0.0  # a step without masked tokens has no loss


@pytest.mark.parametrize(
    ("to", "processes", "size", "fault"),
    [
        (40, 8, 30, None), (1, 1, 30, None),
        (0, 1, 30, "--to 0: the recipe has 40 steps"), (41, 1, 30, "--to 41"),
        (40, 9, 30, "9 processes for batches of 8"), (40, 1, 31, "with a vocabulary of 31, --vocab has 30"),
    ],
)  # fmt: skip
def test_what_cannot_be_trained_is_refused_before_it_begins(
    tmp_path: Path, to: int, processes: int, size: int, fault: str | None
) -> None:
    packed: Any = SimpleNamespace(vocab_size=size)
    vocabulary: Any = SimpleNamespace(size=30)
    segment = segments.Segment(tokens=tmp_path, vocab=tmp_path, output=tmp_path, to=to)
    world = World(torch.device("cpu"), 0, processes)
    if fault is None:
        segments.check(RECIPE, packed, vocabulary, segment, world)
    else:
        with pytest.raises(PubmillError, match=fault):
            segments.check(RECIPE, packed, vocabulary, segment, world)


TERMS = (Term("mlm", 1.0, "masked"), Term("nsp", 0.5, "pairs", chooses=True))
SUMS = {
    "masked": 4, "mlm_loss": 8.0, "pairs": 2, "nsp_loss": 3.0, "nsp_correct": 1, "cut": 7, "tokens": 60,
    "padded": 80, "flops": 500.0, "seconds": 2.0,
}  # fmt: skip


def test_losses_are_means_per_label_and_weigh_as_the_objective_says() -> None:
    assert means(TERMS, SUMS) == {"mlm_loss": 2.0, "nsp_loss": 1.5, "nsp_accuracy": 0.5}
    line = log_line(TERMS, SUMS, 10, 1e-4, 1000.0)
    assert line == {
        "step": 10, "loss": 2.75, "mlm_loss": 2.0, "nsp_loss": 1.5, "nsp_accuracy": 0.5,
        "learning_rate": 1e-4,
        "cut_tokens": 7, "padding": 0.25, "tokens_per_second": 30.0, "mfu": 0.25,
    }  # fmt: skip
    sums = SUMS | {"pairs": 0, "nsp_loss": 0.0, "nsp_correct": 0}
    assert means(TERMS, sums) == {"mlm_loss": 2.0, "nsp_loss": None, "nsp_accuracy": None}
    assert log_line(TERMS, sums, 10, 1e-4, 1000.0)["loss"] == 2.0


def test_progress_estimates_the_time_left_from_the_time_spent() -> None:
    line = log_line(TERMS, SUMS | {"tokens": 2468.0}, 10, 1e-4, 1000.0)
    assert progress_line(line, 40, 100, 600.0) == (
        "step 10/40 (of 100)  loss 2.750  1,234 tokens/s  MFU 25%  30 min left"
    )


def test_tensorboard_shows_every_measure_that_has_a_value_if_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    board = event_writer(tmp_path, 0)
    write_events(board, {"step": 3, "loss": 2.5, "nsp_loss": None})
    [events] = tmp_path.iterdir()
    assert b"loss" in events.read_bytes()  # before it is closed: training may be killed
    board.close()
    assert b"nsp_loss" not in events.read_bytes() and b"step" not in events.read_bytes()
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    assert event_writer(tmp_path / "other", 1) is None
    assert "no TensorBoard here (pip install tensorboard): log.jsonl alone" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()

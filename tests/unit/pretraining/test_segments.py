"""When a segment saves, logs and reports, what it refuses, and how a rising loss is noticed."""

from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from pubmill.errors import PubmillError, StopRequestedError
from pubmill.pretraining import checkpoints, segments
from pubmill.pretraining.background_saves import BackgroundSaves
from pubmill.pretraining.checkpoints import PretrainingProgress
from pubmill.pretraining.distributed import World
from pubmill.pretraining.engine import Pretraining, learning_rate
from pubmill.pretraining.packed_tokens import HELD_OUT
from pubmill.recipes.objectives import Term
from tests.unit.pretraining.toy_pretraining import RECIPE, changed, log, make_data, pretrain, state

MLM = Term("mlm", 1.0, "masked", chooses=True)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_data(tmp_path_factory.mktemp("data"))


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


def test_a_stop_before_the_first_step_saves_nothing_and_one_later_does(
    data: Path, tmp_path: Path, saves: list[int], monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    update = Pretraining.update
    for last in (0, 2):

        def stop(self: Pretraining, step: int, last: int = last) -> dict[str, float]:
            if step == last:
                raise StopRequestedError
            return update(self, step)

        monkeypatch.setattr(Pretraining, "update", stop)
        with pytest.raises(StopRequestedError) as caught:
            pretrain(data, tmp_path / "step-4", 4)
        assert caught.value.number == 15  # SIGTERM
        assert ("asked to stop before another step" in capsys.readouterr().err) == (last == 0)
    assert saves == [2]


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


def test_a_step_without_masked_tokens_has_no_loss() -> None:
    progress = PretrainingProgress()
    sums = {"mlm_loss": 0.0, "masked": 0.0, "tokens": 2.0, "flops": 1.0}
    progress.count(sums | {"seconds": 0.1, "processor_seconds": 0.1}, 50, 1.0, MLM)
    assert progress.average == 0.0


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


def test_a_corpus_whose_held_out_documents_give_no_sequence_has_no_losses(data: Path) -> None:
    asked: list[str] = []

    def evaluate(packed: Any, masking: str) -> None:
        asked.append(masking)

    work: Any = SimpleNamespace(recipe=RECIPE, evaluate=evaluate)
    assert segments.held_out_losses(work, data / "tokens" / HELD_OUT) is None and asked == ["whole-word"]
    assert segments.held_out_losses(work, data / "nothing") is None and asked == ["whole-word"]


@pytest.mark.parametrize("masking", ["whole-word", "subword"])
def test_held_out_losses_are_by_masking_and_of_terms_that_have_one(data: Path, masking: Any) -> None:
    sums = {"mlm_loss": 6.0, "mlm_correct": 1.0, "masked": 4.0, "nsp_loss": 0.0, "nsp_correct": 0.0}
    terms = (MLM, Term("nsp", 1.0, "pairs", chooses=True))
    work: Any = SimpleNamespace(
        recipe=changed(objective={"masking": masking}), evaluate=lambda packed, how: sums, terms=terms
    )
    line = {"mlm_loss": 1.5, "mlm_accuracy": 0.25, "masked": 4}
    found = segments.held_out_losses(work, data / "tokens" / HELD_OUT)
    assert found == dict.fromkeys((masking, "subword"), line)


def test_a_gpu_need_not_be_deterministic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its preferred kernels would be slower; a processor always is."""
    given: list[object] = []
    monkeypatch.setattr(segments, "configure_cuda", lambda deterministic: given.append(deterministic))
    monkeypatch.setattr(torch, "use_deterministic_algorithms", lambda on: given.append(f"processor {on}"))
    segments.configure(torch.device("cuda"))
    segments.configure(torch.device("cpu"))
    assert given == [False, "processor True"]


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("deterministic", ["required", "preferred", None])
def test_a_segment_that_goes_on_says_so_once(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    rank: int,
    deterministic: str | None,
) -> None:
    """And that last digits differ where the device is not deterministic."""
    own = tmp_path / "step-3"
    monkeypatch.setattr(segments, "own_save", lambda output, origin: own)
    monkeypatch.setattr(checkpoints, "load", lambda *given, **named: PretrainingProgress(step=3))
    monkeypatch.setattr(segments, "read_json", lambda path: {})
    monkeypatch.setattr(segments, "warn_of_changes", lambda before, now: None)
    world = SimpleNamespace(first=rank == 0, decide=lambda decision: decision())
    hardware = {} if deterministic is None else {"deterministic": deterministic}
    work, origin = SimpleNamespace(world=world), {"hardware": hardware}
    segment = segments.Segment(tokens=tmp_path, vocab=tmp_path, output=tmp_path / "s", to=3)
    assert segments.resume(work, segment, origin).step == 3  # type: ignore[arg-type]
    said = capsys.readouterr().err
    assert ("going on from step 3, which was saved when this was ended" in said) == (rank == 0)
    assert ("an undisturbed run has other last digits" in said) == (
        rank == 0 and deterministic == "preferred"
    )


@pytest.mark.parametrize(
    ("source", "step", "fault"),
    [("own", 4, True), ("own", 3, False), ("previous", 3, True), ("previous", 2, False)],
)
def test_a_start_beyond_the_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, step: int, fault: bool
) -> None:
    """The segment's own save may be at its last step: only the output is missing then."""
    start = tmp_path / "start"
    monkeypatch.setattr(segments, "own_save", lambda output, origin: start if source == "own" else None)
    monkeypatch.setattr(checkpoints, "load", lambda *given, **named: PretrainingProgress(step=step))
    monkeypatch.setattr(segments, "read_json", lambda path: {})
    monkeypatch.setattr(segments, "warn_of_changes", lambda before, now: None)
    work: Any = SimpleNamespace(world=World(torch.device("cpu")))
    origin: Any = {"hardware": {}}
    segment = segments.Segment(
        tokens=tmp_path,
        vocab=tmp_path,
        output=tmp_path / "s",
        to=3,
        previous=None if source == "own" else start,
    )
    if fault:
        with pytest.raises(PubmillError) as caught:
            segments.resume(work, segment, origin)
        assert str(caught.value) == f"{start} is at step {step} already, --to is 3"
    else:
        assert segments.resume(work, segment, origin).step == step

"""Recorded steps and working copies: equal to plain steps, one recording for each shape."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from pubmill.finetuning.encoders import load_encoder
from pubmill.finetuning.finetuning_job import read_split
from pubmill.finetuning.heads import TaskModel
from pubmill.finetuning.predicting import Predictor
from pubmill.finetuning.tasks.texts import Regression
from pubmill.finetuning.weight_updates import refresh, working_copy
from tests.gpu.finetuning_cases import RECIPES as CASES
from tests.unit.finetuning.encoder_families import FAMILIES
from tests.unit.finetuning.fake_graphs import FakeRecorder, assert_close, assert_same, learnt, on_gpu, refuse

pytestmark = pytest.mark.long

CPU = torch.device("cpu")
DROPOUT = replace(CASES["tokens"], epochs=2, precision="float32")
TOKENS = replace(DROPOUT, dropout=0.0, head_dropout=0.0)
WITHOUT = ("tokens crf", "tokens bilstm", "tokens mlp", "sequence entity-start", "sequence oversampled",
           "multilabel weighted", "regression", "stabilised")  # fmt: skip
RECIPES = {
    "dropout": DROPOUT,
    "uncorrected": replace(TOKENS, bias_correction=False, weight_decay=0.1),
    "frozen": replace(TOKENS, frozen_layers=2),
    "clipped": replace(TOKENS, max_gradient_norm=1e-3),
    **{
        name: replace(CASES[name], epochs=2, precision="float32", dropout=0.0, head_dropout=0.0)
        for name in WITHOUT
    },
}


@pytest.mark.parametrize("name", RECIPES)
def test_recorded_steps_are_those_of_a_copy_and_of_the_model(name: str, cases: Path) -> None:
    recorder = FakeRecorder()
    with on_gpu(recorder):
        found = learnt(RECIPES[name], cases)
    with on_gpu(refuse):
        assert_same(found, learnt(RECIPES[name], cases))
    assert recorder.replays >= 5
    if name != "dropout":
        assert_close(found, learnt(RECIPES[name], cases))


@pytest.mark.parametrize("name", ["dropout", "tokens crf", "stabilised"])
def test_recorded_parts_are_the_same_bit_for_bit(name: str, cases: Path) -> None:
    """And learn like whole batches; a batch may have one part or several."""
    recorder, of_whole = FakeRecorder(), FakeRecorder()
    with on_gpu(recorder, part_cost=16, part_sizes=2):
        found = learnt(RECIPES[name], cases)
    with on_gpu(refuse, part_cost=16, part_sizes=2):
        assert_same(found, learnt(RECIPES[name], cases))
    with on_gpu(of_whole, part_cost=10**9):
        whole = learnt(RECIPES[name], cases)
    assert len(recorder.recordings) > len(of_whole.recordings)
    if name != "dropout":
        assert_close(found, whole)


@pytest.mark.parametrize(("name", "failed"), [("dropout", 1), ("tokens crf", 2)])
def test_a_refused_recording_leaves_nothing_behind(
    name: str, failed: int, cases: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The only recording of a step fails, or the second of two, when the backward pass has left gradients."""
    recorder = FakeRecorder()

    def failing(work: Any) -> Any:
        made = recorder(work)
        if len(recorder.recordings) == failed:
            try:
                raise RuntimeError("a loss waits")
            except RuntimeError:
                raise RuntimeError("capture failed")  # noqa: B904
        return made

    with on_gpu(failing):
        found = learnt(RECIPES[name], cases)
    message = "a step cannot be recorded (a loss waits); steps are done without CUDA graphs"
    assert capsys.readouterr().err.count(message) == 1
    assert len(recorder.recordings) == failed and not recorder.replays
    with on_gpu(refuse):
        assert_same(found, learnt(RECIPES[name], cases))


def test_too_little_memory_for_a_recording_divides_the_batch(
    cases: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorder, short = FakeRecorder(), [True]

    def failing(work: Any) -> Any:
        if short.pop() if short else False:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return recorder(work)

    with on_gpu(failing):
        found = learnt(TOKENS, cases)
    said = capsys.readouterr().err
    assert "continuing with 2 at once" in said and "cannot be recorded" not in said and recorder.replays
    assert_close(found, learnt(TOKENS, cases))


def test_a_copy_in_bfloat16_learns_like_autocast(cases: Path) -> None:
    recipe = replace(TOKENS, precision="bfloat16", epochs=6)
    with on_gpu(FakeRecorder(), weights=torch.bfloat16):
        copied = learnt(recipe, cases)
    losses = copied.report["loss_by_epoch"]
    assert losses == pytest.approx(learnt(recipe, cases).report["loss_by_epoch"], rel=0.02)
    assert losses[-1] < 0.8 * losses[0]
    assert {value.dtype for value in copied.model.parameters()} == {torch.float32}


def test_a_copy_predicts_with_the_best_weights(cases: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = [0.1, 0.5, 0.2]
    monkeypatch.setattr(Regression, "dev_score", lambda *given: scores.pop(0))
    recipe = replace(RECIPES["regression"], keep="best", epochs=3, learning_rate=3e-3)
    with on_gpu(FakeRecorder()):
        run = learnt(recipe, cases, "dev")
    split = run.task.encode_split(read_split(cases / "regression", "test", run.task.kind))
    found = Predictor(recipe, run.task, run.model).predict(split)
    assert [row["score"] for row in run.predictions] == pytest.approx(found, rel=1e-4)
    assert run.report["dev"]["best"] == 0.5


@pytest.mark.parametrize("family", FAMILIES)
def test_a_copy_has_its_own_weights_and_the_same_encodings(family: str, folders: dict[str, Path]) -> None:
    encoder = load_encoder(folders[family], 0.0, CPU)
    model = TaskModel(encoder, torch.nn.Identity()).eval()
    working = working_copy(model, torch.float32)
    ids, mask = 5 + torch.arange(24).view(2, 12) % 20, torch.ones(2, 12, dtype=torch.int64)
    inputs = torch.stack([ids, mask])
    assert working.encode(inputs).equal(model.encode(inputs))
    with torch.no_grad():
        for weight in encoder.parameters():
            weight.add_(0.1)
    assert not working.encode(inputs).equal(model.encode(inputs))
    refresh(working, model)
    assert working.encode(inputs).equal(model.encode(inputs))
    half = working_copy(model, torch.bfloat16).encode(inputs)
    assert half.dtype == torch.bfloat16
    assert torch.cosine_similarity(half.float(), model.encode(inputs), dim=-1).min() > 0.98

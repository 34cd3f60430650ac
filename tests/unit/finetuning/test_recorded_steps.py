"""Recorded steps and working copies: equal to plain steps, one recording for each shape."""

import gc
import random
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from pubmill.finetuning import run
from pubmill.finetuning.encoders import load_encoder
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.heads import TaskModel
from pubmill.finetuning.inputs import EncodedSplit
from pubmill.finetuning.predicting import PLAIN, Execution, choose_execution
from pubmill.finetuning.trainer import Trainer
from pubmill.finetuning.weight_updates import refresh, working_copy
from pubmill.recipes import FinetuningRecipe
from tests.gpu.finetuning_cases import MAKERS, PIECES
from tests.gpu.finetuning_cases import RECIPES as CASES
from tests.unit.finetuning.encoder_families import FAMILIES, save_encoder, sentence
from tests.unit.finetuning.fake_graphs import FakeRecorder
from tests.unit.tiny_encoders import tiny_bert

pytestmark = pytest.mark.long

CPU = torch.device("cpu")
WIDE = Execution(width=16)
RECIPE = FinetuningRecipe(
    task="tokens", metric="entity_f1", learning_rate=1e-3, batch_size=4, epochs=2, keep="last",
    precision="float32", max_length=32,
)  # fmt: skip
STABILISED = replace(RECIPE, bias_correction=False, weight_decay=0.1, layerwise_decay=0.9, frozen_layers=1)
RECIPES = {
    "usual": RECIPE,
    "no dropout": replace(RECIPE, dropout=0.0, head_dropout=0.0),
    "CRF": replace(RECIPE, crf=True),
    "BiLSTM": replace(RECIPE, head="bilstm", head_sizes=[8]),
    "stabilised": STABILISED,
    "frozen": replace(RECIPE, frozen_layers=3),
    "clipped": replace(RECIPE, max_gradient_norm=1e-3),
}
DIVIDED = ("CRF", "BiLSTM")
"""Recipes whose heads have kernels of many shapes."""
WHOLE = (
    "tokens mlp",
    "sequence",
    "sequence entity-start",
    "sequence oversampled",
    "multilabel weighted",
    "regression",
)


def begin(recipe: FinetuningRecipe, model: Path) -> tuple[Trainer, EncodedSplit]:
    """A trainer whose batches have widths of 16 and 32, and its training data."""
    draw = random.Random(1)
    examples = [sentence(draw) for _ in range(26)]
    trainer, _ = run._make_trainer(FinetuningJob(recipe, model, model, 1, "test"), examples, CPU)
    trainer.execution = WIDE
    trainer.model.encoder.set_attn_implementation("eager")  # whole batches, as without blocks
    split = trainer.task.encode_split(examples, learn=True)
    trainer.task.prepare(examples, split.encoded.instances)
    return trainer, split


def recording(trainer: Trainer, recorder: Any, dtype: torch.dtype = torch.float32) -> Trainer:
    trainer.working = working_copy(trainer.model, dtype)
    trainer._record(recorder)
    return trainer


def trained(trainer: Trainer, split: EncodedSplit) -> tuple[list[float], dict[str, torch.Tensor]]:
    torch.manual_seed(3)
    progress = trainer.train(split, None)
    return progress.losses, trainer.model.state_dict()


def refuse(work: Any) -> Any:
    raise RuntimeError("operation not permitted when stream is capturing\nmore")


@pytest.mark.parametrize("name", RECIPES)
def test_recorded_steps_are_the_same_bit_for_bit(name: str, bert: Path) -> None:
    recorder = FakeRecorder()
    plain, split = begin(RECIPES[name], bert)
    recording(plain, refuse)
    replayed = recording(begin(RECIPES[name], bert)[0], recorder)
    (losses, weights), (expected, same) = trained(replayed, split), trained(plain, split)
    assert losses == expected and weights.keys() == same.keys()
    assert all(weights[key].equal(same[key]) for key in same)
    assert recorder.replays >= 10 and plain.recorded and plain.recorded.refused
    assert plain.describe_execution()["graphs_per_step"] == 0
    assert replayed.describe_execution()["graphs_per_step"] == (2 if name in DIVIDED else 1)


@pytest.mark.parametrize("name", RECIPES)
def test_updates_on_tensors_are_the_optimisers_own(name: str, bert: Path) -> None:
    plain, split = begin(RECIPES[name], bert)
    replayed = recording(begin(RECIPES[name], bert)[0], FakeRecorder())
    plain.every = replayed.every  # for the same dropout
    (losses, weights), (expected, same) = trained(replayed, split), trained(plain, split)
    assert losses == pytest.approx(expected, rel=1e-5)
    for key in [key for key in weights if key.endswith("key.bias")]:
        del weights[key], same[key]  # They have no effect, so Adam makes steps of rounding errors.
    torch.testing.assert_close(weights, same, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", RECIPES)
def test_recorded_parts_are_the_same_bit_for_bit(name: str, bert: Path) -> None:
    """And learn like whole batches; a batch may have one part or several."""
    recorder = FakeRecorder()
    trainers = [begin(RECIPES[name], bert)[0] for _ in range(2)]
    whole, split = begin(replace(RECIPES[name], dropout=0.0, head_dropout=0.0), bert)
    for trainer, its in zip(trainers, (refuse, recorder), strict=True):
        recording(trainer, its).execution = replace(WIDE, part_cost=16, part_sizes=2)
    (expected, same), (losses, weights) = (trained(trainer, split) for trainer in trainers)
    assert losses == expected and all(weights[key].equal(same[key]) for key in same)
    assert trainers[1].describe_execution()["parts"] == 2 and recorder.replays >= 10
    recording(whole, refuse).execution = replace(WIDE, part_cost=10**9)
    parts = recording(begin(whole.recipe, bert)[0], FakeRecorder())
    parts.execution = trainers[0].execution
    assert trained(parts, split)[0] == pytest.approx(trained(whole, split)[0], rel=1e-4)


@pytest.mark.parametrize(("name", "failed"), [("usual", 1), ("CRF", 2)])
def test_a_refused_recording_leaves_nothing_behind(
    name: str, failed: int, bert: Path, capsys: pytest.CaptureFixture[str]
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

    plain, split = begin(RECIPES[name], bert)
    recording(plain, refuse)
    other = recording(begin(RECIPES[name], bert)[0], failing)
    assert trained(other, split)[0] == trained(plain, split)[0]
    found = other.describe_execution()
    assert (found["graphs_refused"], found["graphs_per_step"], found["graphs"]) == ("a loss waits", 0, 0)
    assert len(recorder.recordings) == failed and not recorder.replays
    message = "a step cannot be recorded (a loss waits); steps are done without CUDA graphs"
    assert capsys.readouterr().err.count(message) == 1


def test_too_little_memory_for_a_recording_divides_the_batch(bert: Path) -> None:
    """Smaller batches are still recorded."""
    recorder, short = FakeRecorder(), [True]

    def failing(work: Any) -> Any:
        if short.pop() if short else False:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return recorder(work)

    plain, split = begin(RECIPES["no dropout"], bert)
    recording(plain, refuse)
    other = recording(begin(RECIPES["no dropout"], bert)[0], failing)
    assert trained(other, split)[0] == pytest.approx(trained(plain, split)[0], rel=1e-4)
    found = other.describe_execution()
    assert found["graphs_refused"] is None and found["parts"] == 2 and found["graphs_per_step"] == 1


@pytest.mark.parametrize("case", WHOLE)
def test_whole_steps_of_every_task_are_the_same_bit_for_bit(case: str, tmp_path: Path) -> None:
    """Also with the same losses as steps that read only the batch's places, but for dropout and rounding."""
    model = tiny_bert(tmp_path / "bert", PIECES)
    recipe = replace(CASES[case], precision="float32", epochs=4)
    draw, recorder = random.Random(1), FakeRecorder()
    examples = [MAKERS[recipe.task](draw, str(number)) for number in range(24)]
    job = FinetuningJob(recipe, model, model, 1, "test")
    plain, replayed = (run._make_trainer(job, examples, CPU)[0] for _ in range(2))
    split = plain.task.encode_split(examples, learn=True)
    for trainer, its in ((plain, refuse), (replayed, recorder)):
        trainer.task.prepare(examples, split.encoded.instances)
        recording(trainer, its).execution = WIDE
    (losses, weights), (expected, same) = trained(replayed, split), trained(plain, split)
    assert losses == expected and all(weights[key].equal(same[key]) for key in same)
    assert replayed.describe_execution()["graphs_per_step"] == 1 and recorder.replays >= 10


def test_every_position_gives_the_loss_of_the_places(bert: Path) -> None:
    trainer, split = begin(RECIPES["no dropout"], bert)
    trainer.working.train()
    indices, *_ = trainer._epoch_batches(split, 0)
    losses = []
    for every in (False, True):
        trainer.every = every
        batch, targets = trainer._training_batch(split, indices)
        assert (batch.places is None) == every and len(targets) == (
            batch.ids.numel() if every else len(targets)
        )
        losses.append(trainer._loss(trainer.working.encode(batch.inputs), batch, targets).item())
    assert losses[1] == pytest.approx(losses[0], rel=1e-6)


@pytest.mark.parametrize("name", ["usual", "CRF"])
def test_a_trainer_is_freed_at_once(name: str, bert: Path) -> None:
    """Before the next one needs its memory, for train and dev: nothing in it refers to it."""
    trainer, split = begin(RECIPES[name], bert)
    recording(trainer, FakeRecorder()).train(split, None)
    kept = weakref.ref(trainer)
    gc.disable()
    try:
        del trainer
        assert kept() is None
    finally:
        gc.enable()


def test_a_copy_in_bfloat16_learns_like_autocast(bert: Path) -> None:
    recipe = replace(RECIPE, precision="bfloat16", dropout=0.0, head_dropout=0.0, epochs=6)
    plain, split = begin(recipe, bert)
    copied = recording(begin(recipe, bert)[0], FakeRecorder(), torch.bfloat16)
    (losses, weights), (expected, _) = trained(copied, split), trained(plain, split)
    assert losses == pytest.approx(expected, rel=0.02) and losses[-1] < 0.8 * losses[0]
    assert {value.dtype for value in weights.values() if value.is_floating_point()} == {torch.float32}
    assert copied.working.encoder.dtype == torch.bfloat16


def test_predictions_of_a_copy_follow_the_weights(bert: Path) -> None:
    """Also after the best weights on dev have been restored."""
    recipe = replace(RECIPE, keep="best", epochs=3, learning_rate=3e-3)
    trainer, split = begin(recipe, bert)
    recording(trainer, FakeRecorder())
    trainer.train(split, split)
    predicted = trainer.predict(split)
    trainer.working = trainer.model
    assert trainer.predict(split) == predicted


@pytest.mark.parametrize("family", FAMILIES)
def test_a_copy_has_its_own_weights_and_the_same_encodings(family: str, tmp_path: Path) -> None:
    encoder = load_encoder(save_encoder(tmp_path / family, family), 0.0, CPU)
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
    cosine = torch.cosine_similarity(half.float(), model.encode(inputs), dim=-1)
    assert cosine.min() > 0.98


def test_the_execution_depends_on_device_and_precision() -> None:
    gpu = torch.device("cuda", 0)
    assert choose_execution(CPU, "bfloat16") == choose_execution(CPU, "float32") == PLAIN
    fast, old = choose_execution(gpu, "bfloat16"), choose_execution(gpu, "float32")
    assert (fast.weights, fast.graphs, fast.width) == ("bfloat16", True, 16)
    assert (old.weights, old.graphs, old.width) == ("float32", False, 8)
    assert 32_000 <= fast.prediction_tokens <= 65_536

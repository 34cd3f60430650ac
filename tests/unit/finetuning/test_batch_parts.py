"""Batches divided into parts, by length or for a GPU's memory: they are learnt like whole padded batches."""

import random
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from pubmill.errors import PubmillError
from pubmill.finetuning import run
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.inputs import Batch, EncodedSplit
from pubmill.finetuning.predicting import ON_TENSOR_CORES, PLAIN, tokens_at_once
from pubmill.finetuning.trainer import Trainer
from pubmill.finetuning.weight_updates import working_copy
from pubmill.recipes import FinetuningRecipe
from tests.gpu.finetuning_cases import MAKERS, PIECES, RECIPES
from tests.unit.finetuning import toy_spans
from tests.unit.finetuning.fake_graphs import FakeRecorder
from tests.unit.tiny_encoders import tiny_bert

CPU = torch.device("cpu")
STEPS = 3
FINE = replace(PLAIN, part_cost=1)
"""A division into as many parts as there are lengths."""


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    tiny_bert(folder / "bert", PIECES)
    toy_spans.make_model(folder / "spans")
    return folder


def begin(recipe: FinetuningRecipe, models: Path, copied: bool) -> tuple[Trainer, EncodedSplit]:
    """A trainer without dropout; `copied`: with a working copy, as on a GPU."""
    recipe = replace(recipe, precision="float32", dropout=0.0, head_dropout=0.0, max_gradient_norm=0.1)
    draw = random.Random(1)
    examples = [MAKERS[recipe.task](draw, str(number)) for number in range(9)]
    model = models / ("spans" if recipe.task == "span" else "bert")
    trainer, _ = run._make_trainer(FinetuningJob(recipe, model, models, 1, "test"), examples, CPU)
    split = trainer.task.encode_split(examples, learn=True)
    trainer.task.prepare(examples, split.encoded.instances)
    trainer.model.encoder.set_attn_implementation("eager")  # parts one after another, as without blocks
    if copied:
        trainer.working = working_copy(trainer.model, torch.float32)
        trainer._record(FakeRecorder())
    return trainer, split


def updated(trainer: Trainer, split: EncodedSplit) -> tuple[list[float], dict[str, torch.Tensor]]:
    """Losses of some steps, and the weights after them, without those that have no effect: Adam makes steps
    of their rounding errors."""
    trainer.working.train()
    batches = trainer._epoch_batches(split, 0)
    made = [trainer._update(split, batches[step % 2], step, 9) for step in range(STEPS)]
    losses = [loss.item() for loss in made if loss is not None]
    weights = trainer.model.state_dict()
    without = "head.linear.bias" if trainer.recipe.task == "span" else "key.bias"
    return losses, {
        name: value for name, value in weights.items() if not name.endswith(("key.bias", without))
    }


def gradients(
    trainer: Trainer, split: EncodedSplit, monkeypatch: pytest.MonkeyPatch
) -> tuple[float, dict[str, torch.Tensor]]:
    """Loss and gradients of a batch, before they are clipped."""
    monkeypatch.setattr(trainer.optimiser, "update", lambda: True)
    trainer.working.train()
    loss = trainer._update(split, range(len(split.lengths)), 0, 9)
    assert loss is not None
    named = trainer.model.named_parameters()
    return loss.item(), {name: one.grad for name, one in named if one.grad is not None}


@pytest.mark.parametrize("way", ["one after another", "on a copy", "in blocks"])
@pytest.mark.parametrize("case", RECIPES)
def test_gradients_are_those_of_the_batch_padded_together(
    case: str, way: str, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    together, split = begin(RECIPES[case], models, False)
    divided, _ = begin(RECIPES[case], models, way == "on a copy")
    if way == "in blocks":
        divided.model.encoder.set_attn_implementation("blocks")
        monkeypatch.setattr("pubmill.finetuning.trainer.BLOCK_COST", 1)
    divided.execution = FINE
    together.execution = replace(PLAIN, part_cost=10**9)
    (loss, found), (same, expected) = (gradients(one, split, monkeypatch) for one in (divided, together))
    assert divided.most_parts > 1 == together.most_parts
    assert loss == pytest.approx(same, rel=1e-5)
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("copied", [False, True])
@pytest.mark.parametrize("case", ["tokens crf", "sequence mention-max", "regression", "span"])
def test_parts_update_like_the_whole_batch(case: str, copied: bool, models: Path) -> None:
    whole, split = begin(RECIPES[case], models, copied)
    parts, _ = begin(RECIPES[case], models, copied)
    parts.at_once = 3 * max(split.lengths)  # 4 inputs as 3 and 1, or smaller parts
    (losses, weights), (expected, same) = updated(parts, split), updated(whole, split)
    assert parts.most_parts >= 2 and whole.most_parts == 1
    assert losses == pytest.approx(expected, rel=1e-4)
    torch.testing.assert_close(weights, same, rtol=1e-3, atol=2e-4)


@pytest.mark.parametrize("copied", [False, True])
def test_parts_are_halved_until_the_memory_suffices(
    copied: bool, models: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The failing part leaves gradients behind, which the repeated step must not have."""
    plain, split = begin(RECIPES["sequence"], models, copied)
    short, _ = begin(RECIPES["sequence"], models, copied)
    loss = short._loss

    def failing(encodings: torch.Tensor, batch: Batch, targets: torch.Tensor) -> torch.Tensor:
        found = loss(encodings, batch, targets)
        if len(batch.ids) > 2:
            found.backward()
            raise torch.OutOfMemoryError("CUDA out of memory")
        return found

    monkeypatch.setattr(short, "_loss", failing)
    (losses, weights), (expected, same) = updated(short, split), updated(plain, split)
    assert losses == pytest.approx(expected, rel=1e-4)
    torch.testing.assert_close(weights, same, rtol=1e-3, atol=2e-4)
    assert short.describe_execution()["parts"] == 2
    assert capsys.readouterr().err.count("too little memory for 4 inputs") == 1


def test_a_single_input_that_does_not_fit_is_an_error(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer, split = begin(RECIPES["sequence"], models, False)

    def failing(*given: object) -> torch.Tensor:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(trainer, "_loss", failing)
    with pytest.raises(PubmillError, match="too little memory for 1 inputs of up to .* more memory"):
        trainer._update(split, [0, 1, 2, 3], 0, 9)


def test_half_of_a_gpus_memory_is_for_activations(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer, _ = begin(RECIPES["sequence"], models, False)
    encoder, gpu = trainer.model.encoder, torch.device("cuda", 0)
    config = encoder.config
    kept = config.hidden_size * config.num_hidden_layers
    properties = SimpleNamespace(total_memory=2 * 1000 * 52 * kept)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: properties)
    assert tokens_at_once(encoder, gpu, ON_TENSOR_CORES) == 1000
    assert tokens_at_once(encoder, gpu, PLAIN) == 500
    assert tokens_at_once(encoder, CPU, PLAIN) is None

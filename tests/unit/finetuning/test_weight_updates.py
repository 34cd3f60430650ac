"""The update of large weights as one kernel: equal to torch's AdamW, and refused where it does not work.

The kernel's own text runs on a stand-in for Triton.
"""

import random
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from pubmill.finetuning import run, weight_updates
from pubmill.finetuning.finetuning_job import FinetuningJob
from pubmill.finetuning.inputs import EncodedSplit
from pubmill.finetuning.parameter_groups import BETA1, BETA2
from pubmill.finetuning.trainer import Trainer
from pubmill.finetuning.weight_updates import (
    RecordableAdam,
    Update,
    compile_update,
    factors_of,
    plain_update,
    working_copy,
)
from pubmill.recipes import FinetuningRecipe
from tests.gpu import pretended_triton
from tests.unit.finetuning.encoder_families import sentence
from tests.unit.finetuning.fake_graphs import FakeRecorder

CPU = torch.device("cpu")
STEPS = 5
RECIPE = FinetuningRecipe(
    task="tokens", metric="entity_f1", learning_rate=1e-3, batch_size=4, epochs=2, keep="last",
    precision="bfloat16", max_length=32,
)  # fmt: skip
RECIPES = {
    "usual": RECIPE,
    "decay by layer": replace(RECIPE, weight_decay=0.1, layerwise_decay=0.8),
    "clipped": replace(RECIPE, weight_decay=0.1, max_gradient_norm=1e-3),
    "uncorrected": replace(RECIPE, bias_correction=False, weight_decay=0.1, adam_epsilon=1e-3),
    "frozen": replace(RECIPE, frozen_layers=1),
}


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Update:
    """The compiled update, compiled by the stand-in."""
    forget(monkeypatch, "triton", "triton.language", "pubmill.finetuning.update_kernel")
    pretended_triton.install()
    update, refused = compile_update(CPU)
    assert update and refused is None
    return update


def forget(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    """Let them be imported anew, and not stay after the test."""
    for name in modules:
        monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.delitem(sys.modules, name)


def begin(
    recipe: FinetuningRecipe, model: Path, update: Update | None, recorder: Any = None
) -> tuple[Trainer, EncodedSplit]:
    """A trainer of which small weights count as large, and its training data."""
    draw = random.Random(1)
    examples = [sentence(draw) for _ in range(26)]
    trainer, _ = run._make_trainer(FinetuningJob(recipe, model, model, 1, "test"), examples, CPU)
    trainer.working = working_copy(trainer.model, torch.bfloat16)
    trainer._record(recorder or refuse, update)
    split = trainer.task.encode_split(examples, learn=True)
    trainer.task.prepare(examples, split.encoded.instances)
    return trainer, split


def refuse(work: Any) -> Any:
    raise RuntimeError("operation not permitted when stream is capturing")


@pytest.fixture(autouse=True)
def all_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weight_updates, "LARGE", 512)


@pytest.mark.parametrize("corrected", [True, False])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
@pytest.mark.parametrize("size", [16, 1024, 3008])
def test_the_kernel_is_adam_on_float32_weights(
    size: int, dtype: torch.dtype, corrected: bool, kernel: Update
) -> None:
    """Also bit for bit in what it does not touch; Adam without correction is that after very many updates."""
    torch.manual_seed(0)
    rate, decay, clip, epsilon = 1e-2, 0.1, torch.tensor(1.7), 1e-6
    weight = nn.Parameter(torch.randn(size))
    adam = torch.optim.AdamW([weight], lr=rate, betas=(BETA1, BETA2), eps=epsilon, weight_decay=decay)
    if not corrected:
        adam.state[weight] = weight_updates._uncorrected(weight)
    ours, mean, square, copied = (
        weight.detach().clone(),
        torch.zeros(size),
        torch.zeros(size),
        torch.zeros(size),
    )
    copied = copied.bfloat16()
    for step in range(STEPS):
        gradient = torch.randn(size).to(dtype)
        weight.grad = gradient.float() / clip
        adam.step()
        factors = torch.tensor(factors_of(rate, decay, step + 1 if corrected else None, epsilon))
        kernel(gradient, ours, mean, square, copied, factors, clip)
        torch.testing.assert_close(ours, weight.detach(), rtol=1e-5, atol=1e-6)
        assert copied.equal(ours.bfloat16())
    state = adam.state[weight]
    torch.testing.assert_close(mean, state["exp_avg"], rtol=1e-5, atol=1e-7)
    torch.testing.assert_close(square, state["exp_avg_sq"], rtol=1e-5, atol=1e-7)


def weights_after(trainer: Trainer, parts: int) -> dict[str, Tensor]:
    """Weights after updates with random gradients; `parts`: of a batch, added in float32 (0: not divided)."""
    adam = trainer.optimiser
    assert isinstance(adam, RecordableAdam)
    torch.manual_seed(4)
    for step in range(STEPS):
        adam.schedule(step, STEPS)
        for _ in range(max(parts, 1)):
            for copied in trainer.working.encoder.parameters():
                copied.grad = torch.randn_like(copied) * 0.1 if copied.requires_grad else None
            for weight in trainer.model.head.parameters():
                weight.grad = torch.randn_like(weight)
            if parts:
                adam.add_gradients()
        adam.update()
    return trainer.model.state_dict()


@pytest.mark.parametrize("parts", [0, 2])
@pytest.mark.parametrize("name", RECIPES)
def test_the_kernel_does_what_torchs_adam_does(name: str, parts: int, bert: Path, kernel: Update) -> None:
    """With its rate, decay and clipping for each layer; every copy is its weight, rounded."""
    with_kernel, plain = begin(RECIPES[name], bert, kernel)[0], begin(RECIPES[name], bert, None)[0]
    adam = with_kernel.optimiser
    assert isinstance(adam, RecordableAdam) and adam.large and adam.small
    torch.testing.assert_close(
        weights_after(with_kernel, parts), weights_after(plain, parts), rtol=1e-5, atol=1e-6
    )
    for weight, copied in adam.copies.items():
        assert copied.equal(weight.bfloat16())


def test_without_large_weights_torchs_adam_updates_all(bert: Path, kernel: Update, monkeypatch: Any) -> None:
    monkeypatch.setattr(weight_updates, "LARGE", 10**9)
    with_kernel, plain = begin(RECIPE, bert, kernel)[0], begin(RECIPE, bert, None)[0]
    found, expected = weights_after(with_kernel, 0), weights_after(plain, 0)
    assert all(found[key].equal(expected[key]) for key in expected)


@pytest.mark.parametrize("missing", [0, -1])
def test_a_large_weight_without_a_gradient_stays_as_it_is(missing: int, bert: Path) -> None:
    """And all others are updated."""
    trainer, _ = begin(replace(RECIPE, weight_decay=0.1), bert, plain_update)
    adam = trainer.optimiser
    assert isinstance(adam, RecordableAdam)
    before = {weight: weight.detach().clone() for weight in adam.copies}
    for copied in adam.copies.values():
        copied.grad = torch.ones_like(copied)
    left = adam.large[missing]
    left.copied.grad = None
    adam.schedule(1, 9)
    assert adam.update()
    assert {weight for weight in before if before[weight].equal(weight)} == {left.weight}
    assert not left.mean.any() and all(one.mean.any() for one in adam.large if one is not left)


def test_all_weights_of_an_encoder_can_be_large(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then PyTorch's Adam updates the head alone, and no other copy is to be made."""
    monkeypatch.setattr(weight_updates, "LARGE", 1)
    trainer, _ = begin(RECIPE, bert, plain_update)
    adam = trainer.optimiser
    assert isinstance(adam, RecordableAdam)
    assert not adam.small and len(adam.large) == len(adam.copies)
    found, expected = weights_after(trainer, 0), weights_after(begin(RECIPE, bert, None)[0], 0)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["usual", "uncorrected"])
def test_recorded_updates_are_the_same_bit_for_bit(name: str, bert: Path, kernel: Update) -> None:
    recorder, states = FakeRecorder(), []
    for one in (recorder, refuse):
        trainer, split = begin(RECIPES[name], bert, kernel, one)
        torch.manual_seed(3)
        states.append((trainer.train(split, None).losses, trainer.model.state_dict()))
        assert trainer.describe_execution()["update"] == "compiled"
    (losses, found), (expected, weights) = states
    assert recorder.replays >= 5 and losses == expected
    assert all(found[key].equal(weights[key]) for key in weights)


def test_a_missing_triton_is_recorded(
    bert: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    forget(monkeypatch, "pubmill.finetuning.update_kernel")
    monkeypatch.setitem(sys.modules, "triton", None)
    update, refused = compile_update(CPU)
    assert update is None and refused and refused.startswith("ModuleNotFoundError")
    assert "the weight update cannot be compiled (ModuleNotFoundError" in capsys.readouterr().err
    trainer, _ = begin(RECIPE, bert, update)
    assert trainer.describe_execution()["update"] == "plain"


@pytest.mark.parametrize("place", range(1, 5))
def test_a_kernel_with_other_numbers_is_refused(place: int, kernel: Update, monkeypatch: Any) -> None:
    """In any of the tensors that it changes, also if the fault is one NaN."""
    module = sys.modules["pubmill.finetuning.update_kernel"]
    for fault in (2.0, float("nan")):

        def faulty(*tensors: Tensor, fault: float = fault) -> None:
            plain_update(*tensors)
            tensors[place][-1] = fault

        monkeypatch.setattr(module, "compiled_update", faulty)
        update, refused = compile_update(CPU)
        assert update is None and str(refused).startswith(
            "RuntimeError: it gives other numbers than PyTorch's kernels"
        )


def test_a_device_without_memory_is_no_reason_to_go_on(kernel: Update, monkeypatch: Any) -> None:
    def full(*given: Any) -> None:
        raise torch.OutOfMemoryError

    monkeypatch.setattr(weight_updates, "check_update", full)
    with pytest.raises(torch.OutOfMemoryError):
        compile_update(CPU)

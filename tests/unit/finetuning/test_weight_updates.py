"""The update of large weights as one kernel: equal to torch's AdamW, and refused where it does not work.

The kernel's own text runs on a stand-in for Triton.
"""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from pubmill.finetuning import weight_updates
from pubmill.finetuning.encoders import load_encoder, prepare_encoder
from pubmill.finetuning.heads import Layers, TaskModel
from pubmill.finetuning.weight_updates import (
    RecordableAdam,
    Update,
    compile_update,
    plain_update,
    working_copy,
)
from pubmill.recipes import FinetuningRecipe
from tests.gpu import pretended_triton
from tests.unit.finetuning.fake_graphs import FakeRecorder, assert_same, learnt, on_gpu, refuse

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


def begin(recipe: FinetuningRecipe, model: Path, update: Update | None) -> RecordableAdam:
    """Updates of a model of which small weights count as large."""
    torch.manual_seed(1)
    encoder = load_encoder(model, 0.0, CPU)
    prepare_encoder(encoder, recipe)
    made = TaskModel(encoder, Layers(32, 2, recipe))
    return RecordableAdam(made, recipe, working_copy(made, torch.bfloat16), update)


@pytest.fixture(autouse=True)
def all_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weight_updates, "LARGE", 512)


def weights_after(adam: RecordableAdam, parts: int) -> dict[str, Tensor]:
    """Weights after updates with random gradients; `parts`: of a batch, added in float32 (0: not divided)."""
    torch.manual_seed(4)
    for step in range(STEPS):
        adam.schedule(step, STEPS)
        for _ in range(max(parts, 1)):
            for copied in adam.working.encoder.parameters():
                copied.grad = torch.randn_like(copied) * 0.1 if copied.requires_grad else None
            for weight in adam.model.head.parameters():
                weight.grad = torch.randn_like(weight)
            if parts:
                adam.add_gradients()
        adam.update()
    return adam.model.state_dict()


@pytest.mark.parametrize("parts", [0, 2])
@pytest.mark.parametrize("name", RECIPES)
def test_the_kernel_does_what_torchs_adam_does(name: str, parts: int, bert: Path, kernel: Update) -> None:
    """With its rate, decay and clipping for each layer; every copy is its weight, rounded."""
    adam, plain = begin(RECIPES[name], bert, kernel), begin(RECIPES[name], bert, None)
    assert adam.large and adam.small
    torch.testing.assert_close(weights_after(adam, parts), weights_after(plain, parts), rtol=1e-5, atol=1e-6)
    for weight, copied in adam.copies.items():
        assert copied.equal(weight.bfloat16())


@pytest.mark.parametrize("missing", [0, -1])
def test_a_large_weight_without_a_gradient_stays_as_it_is(missing: int, bert: Path) -> None:
    adam = begin(replace(RECIPE, weight_decay=0.1), bert, plain_update)
    before = {weight: weight.detach().clone() for weight in adam.copies}
    for copied in adam.copies.values():
        copied.grad = torch.ones_like(copied)
    left = adam.large[missing]
    left.copied.grad = None
    adam.schedule(1, 9)
    assert adam.update()
    assert {weight for weight in before if before[weight].equal(weight)} == {left.weight}
    assert not left.mean.any() and all(one.mean.any() for one in adam.large if one is not left)


@pytest.mark.parametrize("large", [1, 10**9])
def test_all_weights_of_an_encoder_can_be_large_or_none(large: int, bert: Path, monkeypatch: Any) -> None:
    """PyTorch's Adam updates the head alone, or all."""
    monkeypatch.setattr(weight_updates, "LARGE", large)
    adam = begin(RECIPE, bert, plain_update)
    assert [len(adam.large), len(adam.small)] == sorted([0, len(adam.copies)], reverse=large == 1)
    found, expected = weights_after(adam, 0), weights_after(begin(RECIPE, bert, None), 0)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6 if large == 1 else 0.0)


@pytest.mark.parametrize("name", ["usual", pytest.param("uncorrected", marks=pytest.mark.long)])
def test_recorded_updates_are_the_same_bit_for_bit(name: str, cases: Path, kernel: Update) -> None:
    recorder = FakeRecorder()
    with on_gpu(recorder, kernel, torch.bfloat16):
        found = learnt(RECIPES[name], cases)
    with on_gpu(refuse, kernel, torch.bfloat16):
        assert_same(found, learnt(RECIPES[name], cases))
    assert recorder.replays >= 5


def test_a_missing_triton_is_recorded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    forget(monkeypatch, "pubmill.finetuning.update_kernel")
    monkeypatch.setitem(sys.modules, "triton", None)
    update, refused = compile_update(CPU)
    assert update is None and refused and refused.startswith("ModuleNotFoundError")
    assert "the weight update cannot be compiled (ModuleNotFoundError" in capsys.readouterr().err


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

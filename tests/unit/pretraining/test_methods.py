"""The engine's methods: fast ones equal the plain one, and where they do not work, the plain one is taken."""

from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from pubmill.pretraining import batch_preparation, learners, methods, segments, unpadded
from pubmill.pretraining.distributed import World
from pubmill.pretraining.engine import Pretraining
from pubmill.pretraining.methods import COMPILED, FLASH_3, PLAIN, UNPADDED, Methods, fastest
from pubmill.pretraining.packed_tokens import PackedTokens
from pubmill.recipes import PretrainingRecipe
from tests.unit.pretraining import flash_reference
from tests.unit.pretraining.toy_interrupts import lack_memory
from tests.unit.pretraining.toy_objectives import RECIPES
from tests.unit.pretraining.toy_pretraining import RECIPE, begun, changed, losses, pretrain, weights

EXACT = Methods("unpadded", "float32", "eager")
"""Without rounding; the engine never chooses it."""
CPU, GPU = torch.device("cpu"), torch.device("cuda", 0)


@pytest.fixture(autouse=True)
def small_micro_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(batch_preparation.TOKENS_AT_ONCE, "cpu", 3 * RECIPE.sequence_length)


def work(data: Path, recipe: PretrainingRecipe, steps: int = 2) -> tuple[Pretraining, list[float]]:
    """A pretraining after some steps; their losses, and the norms of their gradients."""
    made, norms = begun(data, recipe), list[float]()

    def look(*given: Any) -> None:
        gradients = [weight.grad for weight in made.learner.parameters() if weight.grad is not None]
        norms.append(torch.nn.utils.get_total_norm(gradients).item())

    made.optimiser.register_step_pre_hook(look)
    return made, [made.update(step)["loss"] for step in range(steps)] + norms


PLAINLY: dict[str, Any] = {
    "architecture": {"dropout": 0.0}, "precision": "float32", "optimisation": {"max_gradient_norm": None}
}  # fmt: skip
"""Without dropout, which draws other numbers for other micro-batches, and without clipping."""


CASES = [name for name, recipe in RECIPES.items() if recipe.objective.adversarial is None]


def network(activation: str = "gelu", heads: int = 12, dropout: float = 0.1) -> SimpleNamespace:
    config = SimpleNamespace(model_type="bert", hidden_size=768, num_attention_heads=heads)
    config.hidden_act, config.attention_probs_dropout_prob = activation, dropout
    return SimpleNamespace(config=config)


@pytest.mark.parametrize("name", CASES)
def test_without_padding_the_steps_are_the_same_and_with_copies_in_bfloat16_but_for_rounding(
    name: str, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In float32, without dropout, and with ELECTRA's most probable replacements, not random ones. With the
    8 bits of bfloat16, a loss and a gradient agree to about a hundredth."""
    monkeypatch.setattr(learners, "sample", lambda logits: logits.argmax(-1))
    recipe = changed(RECIPES[name], **PLAINLY)
    padded, expected = work(data, recipe)
    flash_reference.use(monkeypatch, EXACT)
    flat, found = work(data, recipe)
    assert flat.computation.methods == EXACT and found == pytest.approx(expected, rel=1e-4)
    packed = PackedTokens(data / "tokens")
    ours, theirs = (made.evaluate(packed, "subword") for made in (flat, padded))
    assert ours and theirs and ours["tokens"] == theirs["tokens"]
    names = [f"{term.name}_loss" for term in flat.terms]
    assert [ours[name] for name in names] == pytest.approx([theirs[name] for name in names], rel=1e-3)
    flash_reference.use(monkeypatch, UNPADDED)
    made, found = work(data, recipe, steps=1)
    assert made.computation.methods == UNPADDED
    of_one_step = [expected[0], *expected[2 : 1 + len(found)]]
    assert found == pytest.approx(of_one_step, rel=0.03) and found != of_one_step
    assert {weight.dtype for weight in made.learner.parameters()} == {torch.float32}
    assert made.computation.copies
    assert all(copy.dtype == torch.bfloat16 and copy.grad is None for copy in made.computation.copies.copies)


@pytest.mark.parametrize("small", [0, 3, methods.SMALL])
def test_gradients_of_micro_batches_are_added_in_float32(small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of small weights together; a weight without a gradient keeps what it has."""
    monkeypatch.setattr(methods, "SMALL", small)
    layers = torch.nn.ModuleList([torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)])
    copies, expected = methods.Bfloat16Copies(layers), torch.zeros(4)
    for slopes in ((1.0, 2.0, 4.0, None), (2.0**-9, None, 2.0**-8, 8.0), (None, None, None, None)):
        for copy, slope in zip(copies.copies, slopes, strict=True):
            copy.grad = None if slope is None else torch.full_like(copy, slope)
        copies.add_gradients()
        expected += torch.tensor([slope or 0.0 for slope in slopes])
        assert all(copy.grad is None for copy in copies.copies)
    for weight, total in zip(layers.parameters(), expected, strict=True):
        assert weight.grad is not None and weight.grad.dtype == torch.float32
        assert weight.grad.equal(torch.full_like(weight, total))


@pytest.mark.parametrize("methods", [EXACT, UNPADDED])
def test_segments_without_padding_are_resumed_bit_for_bit(
    methods: Methods, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flash_reference.use(monkeypatch, methods)
    whole = pretrain(data, tmp_path / "whole/step-8", 8)
    half = pretrain(data, tmp_path / "step-3", 3)
    rest = pretrain(data, tmp_path / "step-8", 8, half)
    assert weights(rest) == weights(whole) and losses(rest) == losses(whole)


def test_out_of_memory_halves_the_tokens(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = changed(RECIPE, **PLAINLY)
    flash_reference.use(monkeypatch, EXACT)
    _, expected = work(data, recipe)
    sizes = lack_memory(monkeypatch, lambda count, part: part.ids.numel() > 30 and count > 2)
    made, found = work(data, recipe)
    assert made.batches.at_once == 1 and sizes[0] > 30 and sizes[-1] == RECIPE.sequence_length + 1
    assert found == pytest.approx(expected, rel=1e-4)


def fail(*given: Any) -> Any:
    raise RuntimeError("no kernel image\nis available")


def test_what_does_not_work_here_is_replaced_by_what_does(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    flash_reference.use(monkeypatch, COMPILED)
    monkeypatch.setattr(torch, "compile", lambda function, **settings: fail)
    flash_reference.use_own_cache(monkeypatch)
    made, _ = work(data, RECIPE, steps=1)
    assert made.computation.methods == UNPADDED and made.computation.copies
    refused = f"{COMPILED.describe()} do not work here (RuntimeError: no kernel image"
    assert str(made.computation.refused).startswith(refused)
    slower = "unpadded sequences, weights in bfloat16 and compiled layers do not work here"
    assert f"slower than planned: {slower}" in capsys.readouterr().err


def test_where_nothing_else_works_the_plain_method_gives_its_bytes(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = pretrain(data, tmp_path / "plain", 4)
    flash_reference.use(monkeypatch, COMPILED)
    flash_reference.compile_nothing(monkeypatch)
    monkeypatch.setattr(unpadded, "flash_attention", fail)
    assert weights(pretrain(data, tmp_path / "found", 4)) == weights(plain)


def test_a_loss_that_is_not_a_number_is_a_fault(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flash_reference.use(monkeypatch, UNPADDED)
    monkeypatch.setattr(
        unpadded, "flash_attention", lambda *given: flash_reference.attention(*given) * float("nan")
    )
    made, _ = work(data, RECIPE, steps=1)
    assert made.computation.methods == PLAIN and made.computation.copies is None


def test_methods_of_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Old GPUs, processors, odd sizes and activations, objectives that need float32: the plain one."""
    networks, capability = {"model": network()}, [(9, 0)]
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability[0])
    assert fastest(networks, True, GPU) == COMPILED
    assert fastest(networks, True, CPU) == fastest(networks, False, GPU) == PLAIN
    for odd in (network(heads=64), network(heads=2), network("relu")):
        assert fastest(networks | {"generator": odd}, True, GPU) == PLAIN
    capability[0] = (7, 0)
    assert fastest(networks, True, GPU) == PLAIN
    assert [methods.SLOWER.get(one) for one in (COMPILED, UNPADDED)] == [UNPADDED, None]


def test_the_record_of_a_gpu_says_which_ran(data: Path) -> None:
    packed = PackedTokens(data / "tokens")
    made, _ = work(data, RECIPE, steps=0)
    segment = segments.Segment(tokens=data / "tokens", vocab=data, output=data / "s", to=1)
    names = set(asdict(COMPILED))
    assert not names & segments.origin_of(made, segment, packed)["hardware"].keys()
    made.computation.methods, made.world = COMPILED, World(GPU)
    found = segments.origin_of(made, segment, packed)["hardware"]
    assert {name: found[name] for name in names} == asdict(COMPILED)
    assert names <= set(segments.DECIDING["hardware"])


def test_flash_attention_3_is_for_networks_without_dropout(monkeypatch: pytest.MonkeyPatch) -> None:
    """On Hopper, where its package is installed; not where determinism is required."""
    pytest.importorskip("torch.nn.attention._registry")
    capability: list[Any] = [(9, 0)]
    dropout: list[Any] = [0.0]
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability[0])

    def chosen() -> Methods:
        return fastest({"model": network(dropout=dropout[0])}, True, GPU)

    assert chosen() == COMPILED
    monkeypatch.setattr(methods, "FLASH_3_PACKAGE", "json")
    assert chosen() == FLASH_3 and methods.SLOWER[FLASH_3] == COMPILED
    for values, other in ((capability, (8, 0)), (capability, (10, 0)), (dropout, 0.1)):
        before, values[0] = values[0], other
        assert chosen() == COMPILED
        values[0] = before
    monkeypatch.setenv("PUBMILL_DETERMINISTIC", "1")
    assert chosen() == COMPILED


def test_a_package_that_is_not_there_is_a_fault(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch.nn.attention._registry")
    flash_reference.use(monkeypatch, FLASH_3)
    flash_reference.compile_nothing(monkeypatch)
    made, _ = work(data, RECIPE, steps=0)
    assert made.computation.methods == COMPILED
    assert "ModuleNotFoundError: No module named 'flash_attn" in str(made.computation.refused)

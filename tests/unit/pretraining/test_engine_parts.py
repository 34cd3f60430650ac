"""Parts of a step by themselves: micro-batches, held-out text, too little memory, a stop, optimisers."""

import os
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from pubmill.errors import PubmillError, StopRequestedError
from pubmill.finetuning.weight_updates import schedule
from pubmill.optimisers import OPTIMISERS, Optimiser
from pubmill.pretraining import batch_preparation, engine
from pubmill.pretraining.batch_preparation import tokens_at_once
from pubmill.pretraining.engine import Computation, build_optimiser, learning_rate, seed_torch
from pubmill.pretraining.instances import Instances
from pubmill.pretraining.micro_batches import Part
from pubmill.pretraining.packed_tokens import PackedTokens
from pubmill.recipes import Optimisation
from tests.unit.pretraining.toy_interrupts import lack_memory
from tests.unit.pretraining.toy_pretraining import RECIPE, begun, changed, losses, pretrain, weights

CPU, GPU = torch.device("cpu"), torch.device("cuda", 0)
EXACT = changed(architecture={"dropout": 0.0}, precision="float32")


@pytest.mark.parametrize(("gigabytes", "recompute", "kept"), [(80, False, 52), (8, False, 52), (1, True, 8)])
def test_half_of_a_gpus_memory_is_for_activations(
    monkeypatch: pytest.MonkeyPatch, gigabytes: int, recompute: bool, kept: int
) -> None:
    """52 bytes for each position, layer and hidden unit, or 8 where activations are computed again."""
    properties = {GPU: SimpleNamespace(total_memory=gigabytes << 30)}
    monkeypatch.setattr(torch.cuda, "get_device_properties", properties.__getitem__)
    sizes = {"layers": 12, "hidden_size": 768, "attention_heads": 12}
    recipe = changed(architecture=sizes, recompute_activations=recompute)
    assert tokens_at_once(recipe, GPU) == min((gigabytes << 29) // (kept * 768 * 12), 65536)
    assert tokens_at_once(recipe, CPU) == 2048


def test_at_least_one_sequence_is_computed_at_a_time(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for tokens, sequences in ((1, 1), (24, 1), (47, 1), (48, 2)):
        monkeypatch.setitem(batch_preparation.TOKENS_AT_ONCE, "cpu", tokens)
        assert begun(data, EXACT).batches.at_once == sequences


def test_held_out_text_is_judged_whole_or_by_sequences_from_all_of_it(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The rate on held-out text is not the recipe's.
    made, text = begun(data, changed(EXACT, objective={"masking_rate": 0.6})), PackedTokens(data / "tokens")
    instances = Instances(text, EXACT)
    batch = instances.lay_out(np.arange(len(instances)), np.random.default_rng(1))
    first, again = (made.evaluate(text, "subword") for _ in range(2))
    assert first and first == again
    assert first["tokens"] == batch.lengths.sum()
    # each sequence has up to one token more or less, by a standard deviation of a half at most
    share = 0.15 * batch.inner.sum()
    assert first["masked"] == pytest.approx(share, abs=3 * len(instances) ** 0.5)
    assert made.learner.training
    chosen: list[Any] = []
    lay_out = Instances.lay_out

    def observed(self: Instances, chunks: Any, random: np.random.Generator) -> Any:
        chosen.append(chunks)
        return lay_out(self, chunks, random)

    monkeypatch.setattr(Instances, "lay_out", observed)
    monkeypatch.setattr(engine, "HELD_OUT_SEQUENCES", 3)
    some = made.evaluate(text, "subword")
    assert some and chosen[0].tolist() == [0, (len(instances) - 1) // 2, len(instances) - 1]


def test_judging_leaves_training_as_it_was(data: Path) -> None:
    plain, judged, nothing = begun(data), begun(data), SimpleNamespace(ids=np.zeros(0, np.uint16))
    texts: list[Any] = [PackedTokens(data / "tokens"), nothing]
    for step in range(2):
        assert [judged.evaluate(text, "subword") is None for text in texts] == [False, True]
        assert plain.update(step) == judged.update(step)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_step_that_needs_too_much_memory_is_repeated_in_smaller_pieces(
    data: Path, monkeypatch: pytest.MonkeyPatch, number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whichever of its pieces fails, nothing of the first attempt is counted."""
    monkeypatch.setitem(batch_preparation.TOKENS_AT_ONCE, "cpu", 3 * RECIPE.sequence_length)
    expected = begun(data, EXACT).update(0)
    lack_memory(monkeypatch, lambda count, part: count == number)
    made = begun(data, EXACT)
    found = made.update(0)
    assert found == pytest.approx(expected | {"padded": found["padded"]}, rel=1e-5)
    assert made.batches.at_once == 1
    said = capsys.readouterr().err
    assert "too little memory for 3 sequences of 24 tokens at once; continuing with 1 at once" in said


def test_a_single_sequence_that_needs_too_much_memory_is_an_error(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(batch_preparation.TOKENS_AT_ONCE, "cpu", RECIPE.sequence_length)
    lack_memory(monkeypatch, lambda count, part: count == 1)
    with pytest.raises(PubmillError, match="memory for 1 sequences of 24 tokens at once; set recompute_act"):
        begun(data, EXACT).update(0)


def test_a_step_of_one_piece_is_not_abandoned(data: Path) -> None:
    made = begun(data, EXACT)
    made.stop_asked = lambda: True
    assert made.update(0)["tokens"] > 0


def test_dropout_differs_by_seed_step_and_process() -> None:
    drawn = set()
    for given in ((1, 2, 0), (2, 2, 0), (1, 3, 0), (1, 2, 1)):
        seed_torch(*given)
        drawn.add(torch.rand(1).item())
    seed_torch(1, 2)
    assert len(drawn) == 4 and torch.rand(1).item() in drawn


def test_a_loss_that_is_not_finite_is_refused_before_the_weights_change(data: Path) -> None:
    made = begun(data, EXACT)
    weight = next(made.learner.parameters())
    with torch.no_grad():
        weight.fill_(float("inf"))
    others = [other.detach().clone() for other in list(made.learner.parameters())[1:]]
    with pytest.raises(FloatingPointError, match="loss or gradient is not a number"):
        made.update(0)
    assert all(map(torch.equal, others, list(made.learner.parameters())[1:]))


TO = 6


@pytest.fixture
def small_micro_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(batch_preparation.TOKENS_AT_ONCE, "cpu", 2 * RECIPE.sequence_length)


@pytest.mark.usefixtures("small_micro_batches")
@pytest.mark.parametrize(("micro_batch", "saved"), [(3, None), (12, 3), (25, 6)])
def test_a_stop_between_micro_batches_drops_the_step_and_resumes_bit_for_bit(
    data: Path, tmp_path: Path, capsys: Any, micro_batch: int, saved: int | None
) -> None:
    """The twelfth is the last of the third step; after the sixth step come those of held-out texts."""
    whole, add, done = pretrain(data, tmp_path / "whole", TO), Computation.process, list[Part]()

    def adding(self: Computation, part: Part, *rest: Any) -> Any:
        done.append(part)
        found = add(self, part, *rest)
        if len(done) == micro_batch:
            os.kill(os.getpid(), signal.SIGTERM)
        return found

    with pytest.MonkeyPatch.context() as patch, pytest.raises(StopRequestedError) as ended:
        patch.setattr(Computation, "process", adding)
        pretrain(data, tmp_path / "step-6", TO)
    assert ended.value.number == signal.SIGTERM and len(done) == micro_batch
    saves = [path.name for path in (tmp_path / ".step-6.partial").glob("step-*")]
    assert saves == ([f"step-{saved}"] if saved else [])
    assert "asked to stop" in capsys.readouterr().err
    output = pretrain(data, tmp_path / "step-6", TO)
    assert weights(output) == weights(whole) and losses(output) == losses(whole)


@pytest.mark.usefixtures("small_micro_batches")
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


@pytest.mark.parametrize("kind", OPTIMISERS)
def test_vectors_have_no_decay(kind: str) -> None:
    layer = torch.nn.Linear(3, 3)
    made = build_optimiser(layer, Optimisation(optimiser=kind, learning_rate=1.0))
    decays = {id(weight): group["weight_decay"] for group in made.param_groups for weight in group["params"]}
    assert decays == {id(layer.weight): 0.01, id(layer.bias): 0.0}


@pytest.mark.parametrize("name", OPTIMISERS)
def test_the_registered_state_is_what_an_optimiser_keeps(name: str) -> None:
    layer = torch.nn.Sequential(torch.nn.Embedding(3, 2), torch.nn.LayerNorm(2))
    made = build_optimiser(layer, Optimisation(optimiser=name, learning_rate=1.0))
    layer(torch.tensor([0])).square().sum().backward()
    made.step()
    for weight in layer.parameters():
        kept = made.state[weight]
        assert set(kept) == set(OPTIMISERS[name].state)
        sizes = [tensor.numel() for tensor in kept.values() if tensor.shape == weight.shape]
        assert OPTIMISERS[name].state_bytes * weight.numel() == 4 * sum(sizes)


def test_a_registered_optimiser_trains_and_resumes(data: Path, tmp_path: Path, monkeypatch: Any) -> None:
    """Registration is all it takes: recipes accept the name, and checkpoints hold its state."""
    adamax = Optimiser(kind="torch.optim:Adamax", state=("step", "exp_avg", "exp_inf"))
    monkeypatch.setitem(OPTIMISERS, "adamax", adamax)
    recipe = changed(optimisation={"optimiser": "adamax", "learning_rate": 1e-3}, steps=6)
    whole = pretrain(data, tmp_path / "whole/step-6", 6, recipe=recipe)
    half = pretrain(data, tmp_path / "step-3", 3, recipe=recipe)
    assert weights(pretrain(data, tmp_path / "step-6", 6, half, recipe=recipe)) == weights(whole)
    assert (adamax.checkpoint_bytes, adamax.training_bytes) == (12, 20)


def test_a_branch_has_the_rates_of_the_stable_stretch_until_it_falls() -> None:
    """The same numbers up to the step from which it was branched."""
    stable = Optimisation(learning_rate=1.0, warmup=0.01, schedule="stable-sqrt")
    branch = Optimisation(learning_rate=1.0, warmup=0.02, schedule="stable-sqrt", decay=0.25)
    long = [learning_rate(stable, step, 1000) for step in range(1000)]
    short = [learning_rate(branch, step, 400) for step in range(400)]
    assert short[10:301] == long[10:301] and short[301] < 1.0


def test_both_curves_end_one_step_before_zero_and_differ_in_their_peak() -> None:
    """Pretraining has the peak once; fine-tuning at the step after the rise too."""
    before = [learning_rate(Optimisation(learning_rate=1.0), step, 100) for step in range(100)]
    tuning = [schedule(step, 100, 0.1) for step in range(100)]
    assert before[:10] == tuning[:10]
    assert [before[9], before[10], before[99]] == [1.0, 90 / 91, 1 / 91]
    assert [tuning[9], tuning[10], tuning[99]] == [1.0, 1.0, 1 / 90]

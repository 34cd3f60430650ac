"""Adam and LAMB move weights as their papers' formulas say, and the rate rises and falls."""

from pathlib import Path

import pytest
import torch

from pubmill.finetuning.weight_updates import schedule
from pubmill.optimisers import OPTIMISERS, Optimiser
from pubmill.pretraining.engine import build_optimiser, learning_rate
from pubmill.recipes import Optimisation
from tests.unit.pretraining.toy_pretraining import changed, make_data, pretrain, weights


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


def test_a_registered_optimiser_trains_and_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Registration is all it takes: recipes accept the name, and checkpoints hold its state."""
    adamax = Optimiser(kind="torch.optim:Adamax", state=("step", "exp_avg", "exp_inf"))
    monkeypatch.setitem(OPTIMISERS, "adamax", adamax)
    recipe = changed(optimisation={"optimiser": "adamax", "learning_rate": 1e-3}, steps=6)
    data = make_data(tmp_path)
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

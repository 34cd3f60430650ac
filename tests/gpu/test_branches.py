"""The functions that only GPUs use give, with real numbers on a processor, what the processor's own give."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from pubmill.pretraining import forward, learners
from pubmill.pretraining.cross_entropy import cross_entropy_at_once
from pubmill.pretraining.distributed import World
from pubmill.pretraining.engine import Pretraining
from pubmill.pretraining.masking import read_vocabulary
from pubmill.pretraining.packed_tokens import PackedTokens
from pubmill.recipes import PretrainingRecipe
from tests.gpu.trace_pretraining import RECIPES
from tests.unit.pretraining.toy_pretraining import changed, make_data

STEPS = 2
CASES = [
    name
    for name, recipe in RECIPES.items()
    if recipe.objective.distillation is None and recipe.precision == "auto" and name != "ModernBERT"
]
"""ModernBERT's attention has no branch for GPUs."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_data(tmp_path_factory.mktemp("data"))


def trained(recipe: PretrainingRecipe, data: Path) -> tuple[list[float], torch.Tensor]:
    """Losses of some steps, and all weights after them."""
    packed = PackedTokens(data / "tokens")
    work = Pretraining(recipe, packed, read_vocabulary(data, packed.special), World(torch.device("cpu")))
    losses = [work.update(step)["loss"] for step in range(STEPS)]
    return losses, torch.cat([weight.detach().flatten() for weight in work.learner.parameters()])


@pytest.mark.parametrize("name", CASES)
def test_branches_for_gpus_are_those_of_the_processor(
    name: str, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Padded sequences, in float32 and without dropout; a small rate, as Adam divides by tiny gradients."""
    recipe = changed(RECIPES[name], architecture={"dropout": 0.0}, precision="float32")
    recipe = replace(recipe, optimisation=replace(recipe.optimisation, learning_rate=1e-4))
    losses, weights = trained(recipe, data)
    calls = list[str]()

    def attention(*given: Any) -> torch.Tensor:
        calls.append("attention")
        return F.scaled_dot_product_attention(*given)

    def cross_entropy(*given: Any) -> tuple[torch.Tensor, torch.Tensor]:
        calls.append("cross entropy")
        return cross_entropy_at_once(given[0], given[1])

    monkeypatch.setattr(forward, "plain_attention", attention)
    monkeypatch.setattr(learners, "cross_entropy", cross_entropy)
    on_gpu, theirs = trained(recipe, data)
    assert set(calls) == {"attention", "cross entropy"}
    assert on_gpu == pytest.approx(losses, rel=1e-6)
    torch.testing.assert_close(theirs, weights, atol=2e-5, rtol=1e-5)

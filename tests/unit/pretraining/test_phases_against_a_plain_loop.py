"""The two phases of recent papers, at tiny size, beside a plain loop over transformers' class.

Optimiser, rates, objective and seed are the recipes' own; only sizes and the numbers of steps are smaller,
and dropout is off, whose random numbers differ. Both loops read the same masked tokens.
"""

import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor
from transformers import ModernBertForMaskedLM

from pubmill.pretraining.batch_preparation import BatchPreparation
from pubmill.pretraining.engine import build_learner
from pubmill.pretraining.masking import read_vocabulary
from pubmill.pretraining.packed_tokens import PackedTokens
from pubmill.recipes import PretrainingRecipe, RotaryAttention
from pubmill.specs import Specs, load
from tests.unit.pretraining.toy_objectives import ONE
from tests.unit.pretraining.toy_pretraining import PIECES, SPECIAL, changed, losses, make_data, pretrain

pytestmark = pytest.mark.long

FIRST, ALL = 30, 50
IGNORED = -100
SIZES: dict[str, Any] = {
    "layers": 4, "hidden_size": 16, "attention_heads": 2, "intermediate_size": 24, "max_positions": 32,
    "dropout": 0.0, "rotary": RotaryAttention(window=8),
}  # fmt: skip
RECIPES = ["bioclinical-modernbert-base", "modernbert-bio-base", "modernbert-bio-base@masked-10b"]


@cache
def specs() -> Specs:
    return load(Path(__file__).resolve().parents[3] / "specs", "full")


def phases(name: str) -> list[PretrainingRecipe]:
    """Both phases of a recipe at tiny size; each rises and falls for its own share of its own steps."""
    second = specs().pretraining[name]
    assert second.start and second.start.recipe and second.start.step
    first = specs().pretraining[second.start.recipe]
    found = []
    for spec, steps, before, own in ((first, FIRST, 0, FIRST), (second, ALL, second.start.step, ALL - FIRST)):
        optimisation, planned = spec.recipe.optimisation, spec.recipe.steps
        falling = optimisation.decay * planned / (planned - before) * own / steps
        rising = 0.1 if optimisation.warmup * planned >= 1 else 0.0
        made = changed(
            spec.recipe, architecture=SIZES, optimisation={"decay": falling, "warmup": rising},
            sequence_length=24, batch_size=8, steps=steps, precision="float32",
        )  # fmt: skip
        found.append(made)
    return found


def batch_of(batches: BatchPreparation, step: int) -> tuple[Tensor, Tensor, Tensor]:
    """Ids, labels and places of a step's tokens, as padded rows."""
    prepared = batches.prepare(step)
    ends = np.cumsum(prepared.own.lengths)[:-1]
    rows = [
        [torch.from_numpy(row) for row in np.split(values, ends)]
        for values in (prepared.hidden.ids, prepared.hidden.everywhere(IGNORED), prepared.own.ids >= 0)
    ]
    ids, labels, present = (
        torch.nn.utils.rnn.pad_sequence(some, batch_first=True, padding_value=value)
        for some, value in zip(rows, (SPECIAL["pad"], IGNORED, False), strict=True)
    )
    return ids, labels, present


def loss_of(model: Any, recipe: PretrainingRecipe, batch: tuple[Tensor, Tensor, Tensor]) -> Tensor:
    """Mean cross-entropy of masked tokens, or of all next ones."""
    ids, labels, present = batch
    mask: Any = present.long()
    if recipe.objective.causal:
        labels = torch.full_like(ids, IGNORED)
        labels[:, :-1] = ids[:, 1:].where(present[:, 1:], torch.tensor(IGNORED))
        ahead = torch.arange(ids.shape[1])[None] - torch.arange(ids.shape[1])[:, None]
        seen = (ahead <= 0) & present[:, None, None, :]
        near, hidden = ahead >= -recipe.architecture.rotary.window // 2, torch.finfo(torch.float32).min
        mask = {
            name: torch.where(some, 0.0, hidden)
            for name, some in (("full_attention", seen), ("sliding_attention", seen & near))
        }
    logits = model(input_ids=ids, attention_mask=mask).logits
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORED)


def rate_of(recipe: PretrainingRecipe, step: int) -> float:
    """The share of the highest rate: a rise, a constant, and 1 - sqrt of what has fallen."""
    made = recipe.optimisation
    rising, falling = round(made.warmup * recipe.steps), round(made.decay * recipe.steps)
    if step < rising:
        return (step + 1) / rising
    if step < recipe.steps - falling or not falling:
        return 1.0
    done = (step - (recipe.steps - falling)) / falling
    return made.final_rate + (1 - made.final_rate) * (1 - math.sqrt(done))


def move(model: Any, means: dict[str, list[Tensor]], recipe: PretrainingRecipe, step: int) -> None:
    """Adam with means that are corrected for their beginning, a decay by the share of the highest rate, and,
    if it is stable, a smaller rate for weights whose gradient is larger than its running size."""
    made, share = recipe.optimisation, rate_of(recipe, step)
    for name, weight in model.named_parameters():
        first, second = means.setdefault(name, [torch.zeros_like(weight), torch.zeros_like(weight)])
        first.mul_(made.beta1).add_(weight.grad, alpha=1 - made.beta1)
        second.mul_(made.beta2).add_(weight.grad**2, alpha=1 - made.beta2)
        mean = first / (1 - made.beta1 ** (step + 1))
        square = second / (1 - made.beta2 ** (step + 1))
        if made.optimiser == "stable-adamw":
            size = (weight.grad**2 / square.clamp_min(made.epsilon**2)).mean().sqrt().item()
        else:
            size = 1.0
        own = share / max(1.0, size)
        decay = made.weight_decay if weight.ndim > 1 else 0.0
        weight.data.mul_(1 - own * decay).sub_(
            own * made.learning_rate * mean / (square.sqrt() + made.epsilon)
        )


def plain_loop(data: Path, both: list[PretrainingRecipe]) -> tuple[Any, list[float]]:
    packed, means, found = PackedTokens(data / "tokens"), dict[str, list[Tensor]](), []
    start = build_learner(both[0], len(PIECES), SPECIAL, None, None).model
    model: Any = ModernBertForMaskedLM(start.config).train()
    model.config._attn_implementation = "eager"
    model.load_state_dict(start.state_dict())
    for recipe, steps in zip(both, (range(FIRST), range(FIRST, ALL)), strict=True):
        batches = BatchPreparation(recipe, packed, read_vocabulary(data, packed.special), ONE)
        for step in steps:
            loss = loss_of(model, recipe, batch_of(batches, step))
            model.zero_grad()
            loss.backward()
            move(model, means, recipe, step)
            found.append(loss.item())
    return model, found


@pytest.mark.parametrize("name", RECIPES)
def test_two_phases_are_those_of_a_plain_loop(name: str, tmp_path: Path) -> None:
    data, (first, second) = make_data(tmp_path / "data"), phases(name)
    assert first.optimisation.max_gradient_norm is None and first.objective != second.objective
    assert rate_of(second, FIRST) == 1.0 and rate_of(second, ALL - 1) < 0.5
    before = pretrain(data, tmp_path / f"step-{FIRST}", FIRST, recipe=first)
    made = pretrain(data, tmp_path / f"step-{ALL}", ALL, recipe=second, other=before)
    model, expected = plain_loop(data, [first, second])
    np.testing.assert_allclose(losses(made), expected, rtol=0, atol=1e-5)
    ours = load_file(made / "model.safetensors")
    moved = dict(build_learner(first, len(PIECES), SPECIAL, None, None).model.named_parameters())
    for weight_name, weight in model.named_parameters():
        torch.testing.assert_close(ours[weight_name], weight.data, rtol=0, atol=1e-5)
        assert (weight - moved[weight_name]).abs().max() > 5e-4  # far above the tolerance

"""The two phases of recent papers, at tiny size, beside a plain loop over transformers' class.

Optimiser, rates, objective and seed are the recipes' own; only sizes and the numbers of steps are smaller,
and dropout is off, whose random numbers differ. Both loops read the same masked tokens, at the same rates.
"""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor
from transformers import ModernBertForMaskedLM

from pubmill.optimisers import OPTIMISERS
from pubmill.pretraining.batch_preparation import BatchPreparation
from pubmill.pretraining.engine import build_learner, learning_rate
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


def optimiser_of(model: Any, recipe: PretrainingRecipe) -> Any:
    """Of pubmill, whose formula and rates have tests of their own; only matrices decay."""
    made, groups = recipe.optimisation, []
    for decay in (made.weight_decay, 0.0):
        weights = [weight for weight in model.parameters() if (weight.ndim > 1) == (decay > 0)]
        groups.append({"params": weights, "weight_decay": decay})
    settings: Any = {"betas": (made.beta1, made.beta2), "eps": made.epsilon}
    return OPTIMISERS[made.optimiser].make(groups, lr=made.learning_rate, **settings)


def plain_loop(data: Path, both: list[PretrainingRecipe]) -> tuple[Any, list[float]]:
    packed, state, found = PackedTokens(data / "tokens"), dict[Tensor, Any](), []
    start = build_learner(both[0], len(PIECES), SPECIAL, None, None).model
    model: Any = ModernBertForMaskedLM(start.config).train()
    model.config._attn_implementation = "eager"
    model.load_state_dict(start.state_dict())
    for recipe, steps in zip(both, (range(FIRST), range(FIRST, ALL)), strict=True):
        batches = BatchPreparation(recipe, packed, read_vocabulary(data, packed.special), ONE)
        optimiser = optimiser_of(model, recipe)
        optimiser.state.update(state)
        for step in steps:
            loss = loss_of(model, recipe, batch_of(batches, step))
            model.zero_grad()
            loss.backward()
            for group in optimiser.param_groups:
                group["lr"] = learning_rate(recipe.optimisation, step, recipe.steps)
            optimiser.step()
            found.append(loss.item())
        state = optimiser.state
    return model, found


@pytest.mark.parametrize("name", RECIPES)
def test_two_phases_are_those_of_a_plain_loop(name: str, tmp_path: Path) -> None:
    data, (first, second) = make_data(tmp_path / "data"), phases(name)
    assert first.optimisation.max_gradient_norm is None and first.objective != second.objective
    rates = [learning_rate(second.optimisation, step, ALL) for step in (FIRST, ALL - 1)]
    assert rates[1] < 0.5 * rates[0] == 0.5 * second.optimisation.learning_rate
    before = pretrain(data, tmp_path / f"step-{FIRST}", FIRST, recipe=first)
    made = pretrain(data, tmp_path / f"step-{ALL}", ALL, recipe=second, other=before)
    model, expected = plain_loop(data, [first, second])
    np.testing.assert_allclose(losses(made), expected, rtol=0, atol=1e-5)
    ours = load_file(made / "model.safetensors")
    moved = dict(build_learner(first, len(PIECES), SPECIAL, None, None).model.named_parameters())
    for weight_name, weight in model.named_parameters():
        torch.testing.assert_close(ours[weight_name], weight.data, rtol=0, atol=1e-5)
        assert (weight - moved[weight_name]).abs().max() > 5e-4  # far above the tolerance

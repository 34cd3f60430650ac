"""Costs planned from a recipe alone are those that the engine counts; sizes are those of the papers."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from transformers import AlbertConfig, BertConfig

from pubmill.optimisers import orthogonal_operations
from pubmill.pretraining.architectures import build_model, make_config
from pubmill.pretraining.arithmetic import SIZES, operations_of_step, parameters, shape_of
from pubmill.pretraining.engine import build_learner, build_optimiser, flops_of_step, update_operations
from pubmill.recipes import Distillation, Objective, RotaryAttention
from tests.unit.pretraining.toy_objectives import MODERN, RECIPES
from tests.unit.pretraining.toy_pretraining import RECIPE, SPECIAL, changed

PIECES = 101
TEACHER = replace(RECIPE.architecture, layers=3, hidden_size=24)


MUON = changed(optimisation={"optimiser": "muon"})
PLANNED = {
    **{name: recipe for name, recipe in RECIPES.items() if name not in ("recomputed", "a rising rate")},
    "Muon with pairs": MUON,
    "Muon without pairs": changed(MUON, objective={"pairs": "none"}),
}


@pytest.mark.parametrize("name", PLANNED)
def test_a_planned_step_costs_what_the_engine_counts(name: str) -> None:
    recipe, ahead = PLANNED[name], {"causal": 1.0, "both": 0.25}.get(name, 0.0)
    tokens = recipe.batch_size * recipe.sequence_length
    learner = build_learner(recipe, PIECES, SPECIAL, None, None)
    predicted = tokens * (ahead + (1 - ahead) * recipe.objective.masking_rate)
    counted = flops_of_step(learner, tokens, tokens * recipe.sequence_length, predicted)
    updates = build_optimiser(learner, recipe.optimisation)
    assert (update_operations(updates) > 0) == (recipe.optimisation.optimiser == "muon")
    assert operations_of_step(recipe, PIECES) == pytest.approx(counted + update_operations(updates))


def test_muons_share_of_the_operations_is_the_published_formula() -> None:
    """5 x m / B: with square matrices of 1,024, 31 % at 16,384 tokens and 0.1 % at 4 million."""
    for tokens, share in ((16_384, 0.3125), (4_194_304, 0.00122)):
        assert orthogonal_operations(1024, 1024) / (6 * 1024**2 * tokens) == pytest.approx(share, rel=1e-2)


def test_local_layers_cost_their_window_and_gates_a_third_matrix() -> None:
    shape = {"family": "modernbert", "layers": 4, "max_positions": 8192}
    local = changed(MODERN, architecture=shape | {"rotary": RotaryAttention(global_every=4)})
    every = changed(MODERN, architecture=shape | {"rotary": RotaryAttention(global_every=1)})
    long = [operations_of_step(changed(one, sequence_length=8192), PIECES) for one in (local, every)]
    tokens, hidden = 8 * 8192, 16
    assert long[1] - long[0] == pytest.approx(6 * 3 * 2 * tokens * (8192 - 129) * hidden)


def test_a_rising_rate_counts_with_its_mean_and_recomputing_as_a_third_pass() -> None:
    plain = operations_of_step(RECIPE, PIECES)
    rising = changed(objective={"masking_rate": 0.05, "final_masking_rate": 0.25})
    assert operations_of_step(rising, PIECES) == pytest.approx(plain)
    again = operations_of_step(changed(recompute_activations=True), PIECES)
    assert again == pytest.approx(plain * 4 / 3)


@pytest.mark.parametrize("positions", ["masked", "all"])
def test_a_teacher_goes_forward_only(positions: Any, tmp_path: Path) -> None:
    objective = Objective(masking="subword", pairs="none")
    teacher: Any = build_model(TEACHER, objective, PIECES, SPECIAL, 1)
    teacher.save_pretrained(tmp_path)
    recipe = changed(objective={"distillation": Distillation(positions=positions), "pairs": "none"})
    tokens = recipe.batch_size * recipe.sequence_length
    learner = build_learner(recipe, PIECES, SPECIAL, None, tmp_path)
    counted = flops_of_step(learner, tokens, tokens * recipe.sequence_length, 0.15 * tokens)
    assert operations_of_step(recipe, PIECES, TEACHER) == pytest.approx(counted)
    if positions == "masked":
        plain = changed(objective={"pairs": "none"})
        alone = operations_of_step(plain, PIECES)
        theirs = operations_of_step(changed(plain, architecture={"layers": 3, "hidden_size": 24}), PIECES)
        assert counted == pytest.approx(alone + theirs / 3)


@pytest.mark.parametrize("size", [None, 8])
@pytest.mark.parametrize("family", ["bert", "electra", "albert", "modernbert"])
def test_weights_are_counted_but_for_biases_positions_and_heads(family: Any, size: int | None) -> None:
    size = size if family in ("electra", "albert") else None
    made = replace(RECIPE.architecture, family=family, embedding_size=size, layers=3, intermediate_size=40)
    model: Any = build_model(made, Objective(masking="subword", pairs="none"), PIECES, SPECIAL, 1)
    matrices = {
        name: weight.numel()
        for name, weight in model.base_model.named_parameters()
        if weight.dim() == 2 and "position" not in name and "token_type" not in name and "pooler" not in name
    }
    assert parameters(shape_of(made, PIECES)) == sum(matrices.values())


def test_sizes_are_transformers_defaults_and_that_of_berts_paper() -> None:
    """The defaults are those of BERT-base and ALBERT-xxlarge. Devlin et al. (2019), section 3: L=24, H=1024,
    A=16, a feed-forward size of 4H."""
    large: dict[str, Any] = {"num_hidden_layers": 24, "hidden_size": 1024, "num_attention_heads": 16}
    configs = [BertConfig(), BertConfig(**large, intermediate_size=4096), AlbertConfig()]
    for (name, size), config in zip(SIZES.items(), configs, strict=True):
        made = make_config(size, config.vocab_size, SPECIAL)
        for key in (*large, "intermediate_size", "embedding_size"):
            assert getattr(made, key, None) == getattr(config, key, None), (name, key)
    assert parameters(shape_of(SIZES["large"], 30_522)) == 30_522 * 1024 + 24 * 12 * 1024**2

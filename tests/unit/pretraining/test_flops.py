"""The arithmetic of a step, counted and planned, against torch's own count of what is done; known sizes."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import AlbertConfig, BertConfig

from pubmill.hardware.torch_setup import measured_rate
from pubmill.optimisers import orthogonal_operations
from pubmill.pretraining import arithmetic
from pubmill.pretraining.architectures import build_generator, build_model, make_config
from pubmill.pretraining.arithmetic import operations, operations_of_step, shape_of
from pubmill.pretraining.engine import build_learner, build_optimiser, flops_of_step, update_operations
from pubmill.pretraining.forward import embed, encode, masked_lm_logits
from pubmill.pretraining.instances import UNLABELLED, PackedBatch
from pubmill.pretraining.micro_batches import collate
from pubmill.recipes import Adversarial, Architecture, Distillation, Generator, Objective, RotaryAttention
from tests.unit.pretraining.toy_objectives import MODERN, RECIPES
from tests.unit.pretraining.toy_pretraining import RECIPE, SPECIAL, changed

PIECES, SEQUENCES, LENGTH = 101, 3, 16
TOKENS, SQUARES = SEQUENCES * LENGTH, SEQUENCES * LENGTH**2
SHAPE: Any = {
    "layers": 3, "hidden_size": 32, "attention_heads": 4, "intermediate_size": 72, "max_positions": 64,
}  # fmt: skip
ROWS = torch.tensor([1, 2, 7, 20, 21, 40, 47])


def flops(model: Any, tokens: float, squares: float, masked: float, whole: bool = False) -> float:
    return operations(arithmetic.shape_of_network(model), tokens, squares, masked, whole)


def make_model(family: Any, embedding_size: int | None, objective: Objective) -> Any:
    made = Architecture(family=family, embedding_size=embedding_size, dropout=0.0, **SHAPE)
    return build_model(made, objective, PIECES, SPECIAL, 1)


def vectors(model: Any, rows: torch.Tensor) -> torch.Tensor:
    ids = torch.arange(TOKENS).view(SEQUENCES, LENGTH) + 5
    return encode(model, embed(model, ids, torch.zeros_like(ids)), None, rows)


def done(forward: Callable[[], torch.Tensor]) -> int:
    with FlopCounterMode(display=False) as counter:
        forward().sum().backward()
    return int(counter.get_total_flops())


@pytest.mark.parametrize(
    "family, embedding_size",
    [("bert", None), ("roberta", None), ("megatron-bert", None), ("albert", None), ("albert", 8)],
)
def test_masked_language_models(family: str, embedding_size: int | None) -> None:
    model = make_model(family, embedding_size, Objective(masking="subword", pairs="none"))
    counted = flops(model, TOKENS, SQUARES, len(ROWS))
    assert counted == done(lambda: masked_lm_logits(model, vectors(model, ROWS)))


@pytest.mark.parametrize("embedding_size", [None, 8, 16])
def test_replaced_token_detection(embedding_size: int | None) -> None:
    smaller = Generator(hidden_size=16, attention_heads=2, intermediate_size=24)
    objective = Objective(masking="subword", pairs="none", generator=smaller)
    model = make_model("electra", embedding_size, objective)
    generator = build_generator(smaller, model, 1)
    counted = flops(generator, TOKENS, SQUARES, len(ROWS))
    assert counted == done(lambda: masked_lm_logits(generator, vectors(generator, ROWS)))
    everywhere = torch.arange(TOKENS)
    counted = flops(model, TOKENS, SQUARES, len(ROWS), whole=True)
    assert counted == done(lambda: model.discriminator_predictions(vectors(model, everywhere)))


PASSES: dict[str, tuple[Any, float]] = {
    "pairs": ({"pairs": "next-sentence"}, 1.0), "adversarial": ({"adversarial": Adversarial()}, 1.3),
    "masked": ({"distillation": Distillation()}, 1.3),
    "all": ({"distillation": Distillation(positions="all")}, 1.3),
}  # fmt: skip
"""Objective -> the least number of operations, as a multiple of those of a masked language model."""


@pytest.mark.parametrize("name", PASSES)
def test_passes_beside_the_plain_ones_are_counted(name: str, tmp_path: Path) -> None:
    """Over four sequences of 64 tokens. What is done at [CLS] is not counted."""
    objective, more = PASSES[name]
    recipe = changed(architecture={**SHAPE, "dropout": 0.0}, objective={"pairs": "none"} | objective)
    make_model("bert", None, Objective(masking="subword", pairs="none")).save_pretrained(tmp_path)
    learner = build_learner(recipe, PIECES, SPECIAL, None, tmp_path)
    ids = np.full(4 * 64, 9)
    labels = np.where(np.arange(len(ids)) % 7 == 3, ids, UNLABELLED)
    batch = PackedBatch(ids, 0 * ids, ids > 0, np.full(4, 64), np.array([0, 1, 1, 0]), 0)
    part = collate(batch, ids, labels, np.arange(4), SPECIAL["pad"], torch.device("cpu"))

    def loss() -> torch.Tensor:
        return torch.stack([value for name, value in learner(part).items() if name.endswith("_loss")])

    given = len(ids), 4 * 64.0**2, float((labels >= 0).sum())
    counted = flops_of_step(learner, *given)
    assert counted >= more * flops(learner.model, *given)
    assert counted < done(loss) < 1.05 * counted


def test_what_the_device_can_do_is_measured() -> None:
    rate = measured_rate(torch.device("cpu"), "float32")
    assert math.isfinite(rate) and rate > 0


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
    assert arithmetic.parameters(shape_of(made, PIECES)) == sum(matrices.values())


def test_sizes_are_transformers_defaults_and_that_of_berts_paper() -> None:
    """The defaults are those of BERT-base and ALBERT-xxlarge. Devlin et al. (2019), section 3: L=24, H=1024,
    A=16, a feed-forward size of 4H."""
    large: dict[str, Any] = {"num_hidden_layers": 24, "hidden_size": 1024, "num_attention_heads": 16}
    configs = [BertConfig(), BertConfig(**large, intermediate_size=4096), AlbertConfig()]
    for (name, size), config in zip(arithmetic.SIZES.items(), configs, strict=True):
        made = make_config(size, config.vocab_size, SPECIAL)
        for key in (*large, "intermediate_size", "embedding_size"):
            assert getattr(made, key, None) == getattr(config, key, None), (name, key)
    assert (
        arithmetic.parameters(shape_of(arithmetic.SIZES["large"], 30_522))
        == 30_522 * 1024 + 24 * 12 * 1024**2
    )

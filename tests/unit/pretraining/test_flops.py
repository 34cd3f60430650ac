"""The arithmetic of a step as it is counted for the logs, against torch's own count of what is done."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from pubmill.hardware.torch_setup import measured_rate
from pubmill.pretraining.architectures import build_generator, build_model
from pubmill.pretraining.arithmetic import operations, shape_of_network
from pubmill.pretraining.engine import build_learner, flops_of_step
from pubmill.pretraining.forward import embed, encode, masked_lm_logits
from pubmill.pretraining.instances import UNLABELLED, PackedBatch
from pubmill.pretraining.micro_batches import collate
from pubmill.recipes import Adversarial, Architecture, Distillation, Generator, Objective
from tests.unit.pretraining.toy_pretraining import SPECIAL, changed

PIECES, SEQUENCES, LENGTH = 101, 3, 16
TOKENS, SQUARES = SEQUENCES * LENGTH, SEQUENCES * LENGTH**2
SHAPE: Any = {
    "layers": 3, "hidden_size": 32, "attention_heads": 4, "intermediate_size": 72, "max_positions": 64,
}  # fmt: skip
ROWS = torch.tensor([1, 2, 7, 20, 21, 40, 47])


def flops(model: Any, tokens: float, squares: float, masked: float, whole: bool = False) -> float:
    """Operations of one model."""
    return operations(shape_of_network(model), tokens, squares, masked, whole)


def make_model(family: Any, embedding_size: int | None, objective: Objective) -> Any:
    made = Architecture(family=family, embedding_size=embedding_size, dropout=0.0, **SHAPE)
    return build_model(made, objective, PIECES, SPECIAL, 1)


def vectors(model: Any, rows: torch.Tensor) -> torch.Tensor:
    ids = torch.arange(TOKENS).view(SEQUENCES, LENGTH) + 5
    return encode(model, embed(model, ids, torch.zeros_like(ids)), None, rows)


def done(forward: Callable[[], torch.Tensor]) -> int:
    """Operations of a forward and backward pass, as torch counts them."""
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
    "pairs": ({"pairs": "next-sentence"}, 1.0),
    "adversarial": ({"adversarial": Adversarial()}, 1.3),
    "masked": ({"distillation": Distillation()}, 1.3),
    "all": ({"distillation": Distillation(positions="all")}, 1.3),
}
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

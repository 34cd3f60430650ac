"""The arithmetic of a step as it is counted for the logs, against torch's own count of what is done."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from pubmill.hardware.torch_setup import measured_rate
from pubmill.pretraining.architectures import build_generator, build_model
from pubmill.pretraining.arithmetic import operations, shape_of_network
from pubmill.pretraining.engine import flops_of_step
from pubmill.pretraining.forward import embed, encode, masked_lm_logits
from pubmill.pretraining.instances import UNLABELLED, PackedBatch
from pubmill.pretraining.learners import AdversarialLearner, Distilled, Learner
from pubmill.pretraining.micro_batches import Part, collate
from pubmill.recipes import Adversarial, Architecture, Distillation, Generator, Objective
from tests.unit.pretraining.toy_pretraining import RECIPE, SPECIAL

PIECES, SEQUENCES, LENGTH = 101, 3, 16
TOKENS, SQUARES = SEQUENCES * LENGTH, SEQUENCES * LENGTH**2
SHAPE: Any = {
    "layers": 3,
    "hidden_size": 32,
    "attention_heads": 4,
    "intermediate_size": 72,
    "max_positions": 64,
}
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


def micro_batch(pairs: list[int]) -> tuple[Part, int, float]:
    """Four sequences of 64 tokens; the numbers of tokens, and of masked ones."""
    ids = np.full(4 * 64, 9)
    labels = np.where(np.arange(len(ids)) % 7 == 3, ids, UNLABELLED)
    batch = PackedBatch(ids, 0 * ids, ids > 0, np.full(4, 64), np.array(pairs), 0)
    part = collate(batch, ids, labels, np.arange(4), SPECIAL["pad"], torch.device("cpu"))
    return part, len(ids), float((labels >= 0).sum())


@pytest.mark.parametrize("kind", ["adversarial", "masked", "all"])
def test_passes_beside_the_plain_ones_are_counted(kind: str, tmp_path: Path) -> None:
    objective = Objective(masking="subword", pairs="none")
    model = make_model("bert", None, objective)
    if kind == "adversarial":
        objective = replace(objective, adversarial=Adversarial())
        learner: Learner = AdversarialLearner(model, replace(RECIPE, objective=objective))
    else:
        model.save_pretrained(tmp_path)
        objective = replace(
            objective, distillation=Distillation(positions="all" if kind == "all" else "masked")
        )
        learner = Distilled(model, replace(RECIPE, objective=objective), tmp_path)
    part, ids, masked = micro_batch([0] * 4)

    def loss() -> torch.Tensor:
        return torch.stack([value for name, value in learner(part).items() if name.endswith("_loss")])

    counted = flops_of_step(learner, ids, 4 * 64.0**2, masked)
    assert counted > 1.3 * flops(learner.model, ids, 4 * 64.0**2, masked)
    assert counted < done(loss) < 1.05 * counted  # [CLS] beside it; whole numbers on every processor


def test_a_step_with_pairs_is_about_a_hundredth_more() -> None:
    """[CLS] goes through the last layer, too, and through the pooler."""
    objective = Objective(masking="subword")
    learner = Learner(make_model("bert", None, objective), replace(RECIPE, objective=objective))
    part, ids, masked = micro_batch([0, 1, 1, 0])

    def loss() -> torch.Tensor:
        found = learner(part)
        return torch.stack([found["mlm_loss"], found["nsp_loss"]])

    counted = flops(learner.model, ids, 4 * 64.0**2, masked)
    assert counted < done(loss) < 1.02 * counted


def test_what_the_device_can_do_is_measured() -> None:
    rate = measured_rate(torch.device("cpu"), "float32", rounds=1)
    assert math.isfinite(rate) and rate > 0

"""Recipes of every objective and family, their learners, and a micro-batch."""

from pathlib import Path
from typing import Any

import numpy as np
import torch

from pubmill.pretraining.architectures import build_model
from pubmill.pretraining.distributed import World
from pubmill.pretraining.engine import build_learner
from pubmill.pretraining.instances import UNLABELLED, Instances, Stream
from pubmill.pretraining.masking import Draws, hide, read_vocabulary
from pubmill.pretraining.micro_batches import Part, collate
from pubmill.pretraining.packed_tokens import PackedTokens
from pubmill.recipes import Adversarial, Causal, Distillation, Generator, PretrainingRecipe, RotaryAttention
from tests.unit.pretraining.toy_pretraining import PIECES, RECIPE, SPECIAL, changed, pretrain

GENERATOR = Generator(hidden_size=8, attention_heads=1, intermediate_size=16)
ELECTRA = changed(
    architecture={"family": "electra", "embedding_size": 12},
    objective={"masking": "subword", "pairs": "unlabelled", "generator": GENERATOR},
)
MODERN = changed(
    architecture={"family": "modernbert", "rotary": RotaryAttention(global_every=2, window=8)},
    objective={"masking": "subword", "pairs": "none", "masking_rate": 0.3},
    optimisation={
        "optimiser": "stable-adamw", "schedule": "stable-sqrt", "decay": 0.2, "max_gradient_norm": None,
    },
)  # fmt: skip
RECIPES = {
    "whole words, next sentence": RECIPE,
    "a rising rate": changed(objective={"masking_rate": 0.05, "final_masking_rate": 0.25, "pairs": "none"}),
    "segments without labels": changed(objective={"pairs": "unlabelled"}),
    "RoBERTa over documents": changed(
        architecture={"family": "roberta"},
        objective={"masking": "subword", "pairs": "none", "sequences": "full"},
    ),
    "ELECTRA": ELECTRA,
    "ALBERT": changed(
        architecture={"family": "albert", "embedding_size": 12, "dropout": 0.0},
        objective={"masking": "n-gram", "pairs": "sentence-order"},
        optimisation={"optimiser": "lamb", "learning_rate": 3e-2},
    ),
    "Megatron": changed(architecture={"family": "megatron-bert"}, objective={"pairs": "sentence-order"}),
    "adversarial": changed(objective={"adversarial": Adversarial()}),
    "recomputed": changed(recompute_activations=True),
    "ModernBERT": MODERN,
    "causal": changed(MODERN, objective={"causal": Causal()}, optimisation={"optimiser": "muon"}),
    "both": changed(MODERN, objective={"causal": Causal(share=0.25)}),
}
DISTILLED = changed(objective={"pairs": "none", "distillation": Distillation()}, steps=40)
ONE = World(torch.device("cpu"))


def part_of(data: Path, recipe: PretrainingRecipe = RECIPE) -> Part:
    packed = PackedTokens(data / "tokens")
    batch = Instances(packed, recipe).batch(0)
    vocabulary = read_vocabulary(data, packed.special)
    total = len(batch.lengths)
    draws = Draws(np.arange(total), 1, Stream.MASKS)
    hidden = hide(batch, vocabulary, recipe.objective, 0.3, draws, total)
    rows, labels = np.arange(len(batch.lengths)), hidden.everywhere(UNLABELLED)
    return collate(batch, hidden.ids, labels, rows, SPECIAL["pad"], ONE.device, hidden.causal)


def learner(recipe: PretrainingRecipe, teacher: Path | None = None) -> Any:
    return build_learner(recipe, len(PIECES), SPECIAL, None, teacher).eval()


def save_teacher(folder: Path) -> Path:
    """A model of another size than the students, before its first step."""
    wider = changed(architecture={"hidden_size": 24}, objective={"pairs": "none"})
    model: Any = build_model(wider.architecture, wider.objective, len(PIECES), SPECIAL, 5)
    model.save_pretrained(folder)
    return folder


def make_teacher(data: Path, folder: Path, steps: int) -> Path:
    """A model that is twice as wide as the students."""
    recipe = changed(architecture={"hidden_size": 32}, objective={"pairs": "none"}, steps=steps)
    return pretrain(data, folder / f"step-{steps}", steps, recipe=recipe)

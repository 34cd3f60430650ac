"""Learning rates and optimiser of a fine-tuning (gu2020 section 6.2; tinn2021 sections 2.4, 3.2, 3.3)."""

import math
from typing import Any

import torch
from torch import nn

from pubmill.finetuning.encoders import embeddings, layers
from pubmill.finetuning.heads import TaskModel
from pubmill.optimisers import OPTIMISERS
from pubmill.optimisers.learning_rates import triangle
from pubmill.recipes import FinetuningRecipe

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
"""Adam's own (Kingma and Ba 2015): gu2020 gives none."""


def schedule(step: int, total: int, warmup: float) -> float:
    """Share of the peak learning rate at `step` (from 0) of `total` (gu2020 section 6.2).

    The slanted triangle: linear up over the first `warmup` share of the steps, then down to zero. A rise of
    a fraction of a step counts as such, and the fall begins at the step after the rise.
    """
    part, whole = triangle(step, total, warmup * total, warmup * total)
    return part / whole


class GroupedAdam:
    """Adam over a task model; weight decay, where the recipe has it, spares biases and layer norms.

    Frozen parameters are none of its business: they are neither clipped with the others nor decayed.
    """

    def __init__(self, model: TaskModel, recipe: FinetuningRecipe) -> None:
        self.recipe = recipe
        groups = _groups(model, recipe)
        self.parameters = [parameter for group in groups for parameter in group["params"]]
        self.adam = OPTIMISERS["adamw"].make(groups, betas=(BETA1, BETA2), eps=EPSILON)

    def step(self, step: int, total: int) -> None:
        """Clip the gradients and make update `step` (from 0) of `total`; the gradients are gone after it."""
        torch.nn.utils.clip_grad_norm_(self.parameters, self.recipe.max_gradient_norm, foreach=True)
        rate = self.recipe.learning_rate * schedule(step, total, self.recipe.warmup)
        for group in self.adam.param_groups:
            group["lr"], group["weight_decay"] = rate * group["share"], group["decay"]
            if not self.recipe.bias_correction:
                _undo_correction(group, step + 1)
        self.adam.step()
        self.adam.zero_grad()


def _undo_correction(group: dict[str, Any], update: int) -> None:
    """Have PyTorch's Adam make update number `update` (from 1) as BERT's own Adam does, which lacks the
    correction of the bias (Devlin et al. 2019; Mosbach et al. 2021): by lr * m / (sqrt(v) + epsilon).

    PyTorch's is lr / c1 * m / (sqrt(v) / sqrt(c2) + epsilon), with c = 1 - beta ** update; and weights
    shrink by lr * weight decay in both. Note that the uncorrected first updates are the larger ones.
    """
    first, second = 1 - BETA1**update, math.sqrt(1 - BETA2**update)
    group["lr"] *= first / second
    group["weight_decay"] *= second / first
    group["eps"] = EPSILON / second


def _groups(model: TaskModel, recipe: FinetuningRecipe) -> list[dict[str, Any]]:
    """Parameters with one learning rate and one weight decay each: `share` of the recipe's rate, `decay`."""
    groups: dict[tuple[int, bool], dict[str, Any]] = {}
    below = _exponents(model) if recipe.layerwise_decay != 1 else {}
    for parameter in model.parameters():
        if parameter.requires_grad:
            exponent, matrix = below.get(parameter, 0), parameter.ndim > 1
            group = groups.setdefault((exponent, matrix), {"params": []})
            group["params"].append(parameter)
            group["share"] = recipe.layerwise_decay**exponent
            group["decay"] = recipe.weight_decay if matrix else 0.0
    return list(groups.values())


def _exponents(model: TaskModel) -> dict[nn.Parameter, int]:
    """How often `layerwise_decay` is multiplied into each encoder parameter's rate, as in ELECTRA's code
    (Clark et al. 2020): the head's is full (0), the top of n layers has 2, the lowest n + 1, the embeddings
    n + 2. What some encoders have between top layer and head (a last norm) has the 1 that is free.
    """
    stack = layers(model.encoder)
    exponents = dict.fromkeys(model.encoder.parameters(), 1)
    for depth, layer in enumerate(stack):
        exponents.update(dict.fromkeys(layer.parameters(), len(stack) + 1 - depth))
    for module in embeddings(model.encoder):
        exponents.update(dict.fromkeys(module.parameters(), len(stack) + 2))
    return exponents

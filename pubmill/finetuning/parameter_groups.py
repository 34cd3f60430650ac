"""Learning rates and optimiser of fine-tuning (gu2020 section 6.2; tinn2021 sections 2.4, 3.2, 3.3)."""

import math
from typing import Any, Literal

import torch
from torch import nn

from pubmill.finetuning.encoders import embeddings, layers
from pubmill.finetuning.heads import TaskModel
from pubmill.optimisers import OPTIMISERS
from pubmill.optimisers.learning_rates import triangle
from pubmill.optimisers.loss_scaling import LossScaling
from pubmill.recipes import FinetuningRecipe

BETA1, BETA2 = 0.9, 0.999
Place = Literal["only", "not last", "last"]
"""Place of a part among the parts of its batch."""


def place_of(number: int, parts: int) -> Place:
    """Return the place of part `number`, from 1."""
    if parts == 1:
        return "only"
    return "last" if number == parts else "not last"


def schedule(step: int, total: int, warmup: float) -> float:
    """Return the share of the peak learning rate at `step` (from 0) of `total` (gu2020 section 6.2). The
    slanted triangle: a linear rise over the first `warmup` share of the steps, then a linear fall to zero.
    The rise may end between two steps; the fall begins at the step after it."""
    part, whole = triangle(step, total, warmup * total, warmup * total)
    return part / whole


class GroupedAdam:
    """Adam over a task model, in float16 with a scaled loss; biases and layer norms have no weight decay.
    Frozen parameters are left out: they are neither clipped with the others nor decayed."""

    def __init__(self, model: TaskModel, recipe: FinetuningRecipe, precision: str = "float32") -> None:
        self.recipe = recipe
        self.scaling = LossScaling(precision, next(model.parameters()).device)
        groups: dict[tuple[int, bool], dict[str, Any]] = {}
        below = _decay_exponents(model) if recipe.layerwise_decay != 1 else {}
        for parameter in (one for one in model.parameters() if one.requires_grad):
            exponent, matrix = below.get(parameter, 0), parameter.ndim > 1
            group = groups.setdefault((exponent, matrix), {"params": []})
            group["params"].append(parameter)
            group["share"] = recipe.layerwise_decay**exponent  # of the recipe's learning rate
            group["decay"] = recipe.weight_decay if matrix else 0.0
        self.parameters = [parameter for group in groups.values() for parameter in group["params"]]
        self.adam = OPTIMISERS["adamw"].make(
            [*groups.values()], betas=(BETA1, BETA2), eps=recipe.adam_epsilon
        )

    def schedule(self, step: int, total: int) -> None:
        """Set the rates of step number `step` (from 0) of `total`; skipped ones do not count."""
        step -= self.scaling.skipped
        rate = self.recipe.learning_rate * schedule(step, total, self.recipe.warmup)
        for group in self.adam.param_groups:
            group["lr"], group["weight_decay"] = rate * group["share"], group["decay"]
            if not self.recipe.bias_correction:
                # BERT's update is lr * m / (sqrt(v) + epsilon) (Devlin et al. 2019; Mosbach et al. 2021),
                # PyTorch's lr / c1 * m / (sqrt(v) / sqrt(c2) + epsilon), with c = 1 - beta ** update. Weights
                # shrink by lr * weight decay in both. Without the correction, the first updates are larger.
                first, second = 1 - BETA1 ** (step + 1), math.sqrt(1 - BETA2 ** (step + 1))
                group["lr"] *= first / second
                group["weight_decay"] *= second / first
                group["eps"] = self.recipe.adam_epsilon / second

    def finish(self, place: Place) -> bool:
        """Keep the gradients of a part, and update the weights after the last one; return whether they were
        updated, or need not be yet."""
        if place != "only":
            self.add_gradients()
        return place == "not last" or self.update()

    def update(self) -> bool:
        """Clip the gradients, update the weights, and clear the gradients; return whether the weights were
        updated, which they are not if float16 has overflowed."""
        self.scaling.unscale(self.adam)
        torch.nn.utils.clip_grad_norm_(self.parameters, self.recipe.max_gradient_norm, foreach=True)
        updated = self.scaling.step(self.adam)
        self.clear()
        return updated

    def add_gradients(self) -> None:
        """Do nothing: PyTorch itself adds up the gradients of a batch's parts."""

    def clear(self) -> None:
        self.adam.zero_grad()


def _decay_exponents(model: TaskModel) -> dict[nn.Parameter, int]:
    """Return the exponent of `layerwise_decay` for each encoder parameter, as in ELECTRA's code (Clark et al.
    2020). The head has 0 (the full rate), the top one of n layers 2, the lowest n + 1, and the embeddings n +
    2. Modules that some encoders have between top layer and head (a last norm) have 1."""
    stack = layers(model.encoder)
    exponents = dict.fromkeys(model.encoder.parameters(), 1)
    for depth, layer in enumerate(stack):
        exponents.update(dict.fromkeys(layer.parameters(), len(stack) + 1 - depth))
    for module in embeddings(model.encoder):
        exponents.update(dict.fromkeys(module.parameters(), len(stack) + 2))
    return exponents

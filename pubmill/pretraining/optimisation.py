"""Optimiser and learning rate of pretraining."""

from collections.abc import Iterable

import torch
from torch import nn

from pubmill.optimisers import OPTIMISERS
from pubmill.optimisers.learning_rates import triangle
from pubmill.recipes import Optimisation


def build_optimiser(
    weights: Iterable[nn.Parameter], optimisation: Optimisation, sharded: bool = False
) -> torch.optim.Optimizer:
    """Return the recipe's optimiser, which decays all weights except biases and LayerNorm (as in BERT).

    `sharded`: each process keeps its share of the state.
    """
    weights = list(weights)
    groups = [
        {
            "params": [weight for weight in weights if weight.ndim > 1],
            "weight_decay": optimisation.weight_decay,
        },
        {"params": [weight for weight in weights if weight.ndim <= 1], "weight_decay": 0.0},
    ]
    made: torch.optim.Optimizer = OPTIMISERS[optimisation.optimiser].make(
        groups,
        sharded,
        lr=optimisation.learning_rate,
        betas=(optimisation.beta1, optimisation.beta2),
        eps=optimisation.epsilon,
    )
    return made


def learning_rate(optimisation: Optimisation, step: int, steps: int) -> float:
    """Return the rate of a step (from 0) of `steps`: linear to the peak, then to zero (gu2020 section 6.1).

    The rise takes whole steps, at least one; the fall begins at the last step of the rise.
    """
    rising = max(1, round(optimisation.warmup * steps))
    part, whole = triangle(step, steps, rising, rising - 1)
    return optimisation.learning_rate * part / whole


def set_learning_rate(optimiser: torch.optim.Optimizer, rate: float) -> None:
    """Set the rate of the next update."""
    for group in optimiser.param_groups:
        group["lr"] = rate

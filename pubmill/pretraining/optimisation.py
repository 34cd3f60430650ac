"""Optimiser and learning rate of pretraining."""

from collections.abc import Collection, Iterable
from typing import Any

import torch
from torch import nn

from pubmill.optimisers import OPTIMISERS, orthogonal_operations
from pubmill.optimisers.learning_rates import stable, triangle
from pubmill.recipes import Optimisation


def build_optimiser(
    weights: Iterable[nn.Parameter],
    optimisation: Optimisation,
    sharded: bool = False,
    tables: Collection[int] = (),
) -> torch.optim.Optimizer:
    """Return the recipe's optimiser, which decays all weights except biases and LayerNorm (as in BERT).
    `sharded`: each process keeps its share of the state. `tables`: ids of embeddings, no matrices to Muon."""
    weights, optimiser = list(weights), OPTIMISERS[optimisation.optimiser]
    decayed = [weight for weight in weights if weight.ndim > 1]
    groups: list[dict[str, Any]] = [
        {"params": decayed, "weight_decay": optimisation.weight_decay},
        {"params": [weight for weight in weights if weight.ndim <= 1], "weight_decay": 0.0},
    ]
    if optimiser.matrices:
        groups[0]["params"] = [weight for weight in decayed if id(weight) in tables]
        matrices = [weight for weight in decayed if id(weight) not in tables]
        groups.append(groups[0] | {"params": matrices, "orthogonal": True})
    made: torch.optim.Optimizer = optimiser.make(
        [group for group in groups if group["params"]] if optimiser.matrices else groups,
        sharded,
        lr=optimisation.learning_rate,
        betas=(optimisation.beta1, optimisation.beta2),
        eps=optimisation.epsilon,
    )
    return made


def learning_rate(optimisation: Optimisation, step: int, steps: int) -> float:
    """Return the rate of a step (from 0) of `steps`: linear to the peak, then to zero (gu2020 section 6.1) or
    as the recipe's `schedule` says. The rise takes at least one step; a linear fall begins at its last."""
    rising = max(1, round(optimisation.warmup * steps))
    if optimisation.schedule != "linear":
        falling, root = round(optimisation.decay * steps), optimisation.schedule == "stable-sqrt"
        share = stable(step, steps, rising, falling, optimisation.final_rate, root)
        return optimisation.learning_rate * share
    part, whole = triangle(step, steps, rising, rising - 1)
    return optimisation.learning_rate * part / whole


def embedding_tables(learner: nn.Module) -> set[int]:
    """Return the ids of weights that are embeddings."""
    modules = (module for module in learner.modules() if isinstance(module, nn.Embedding))
    return {id(weight) for module in modules for weight in module.parameters()}


def update_operations(optimiser: torch.optim.Optimizer) -> float:
    """Return the operations of matrix products in an update: Muon's, else none."""
    matrices = (one for group in optimiser.param_groups if group.get("orthogonal") for one in group["params"])
    return float(sum(orthogonal_operations(*weight.shape) for weight in matrices))


def set_learning_rate(optimiser: torch.optim.Optimizer, rate: float) -> None:
    """Set the rate of the next update."""
    for group in optimiser.param_groups:
        group["lr"] = rate

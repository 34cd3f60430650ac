"""How the weights are moved: Adam, and its learning rate at each step."""

import torch
from torch import nn

from pubmill.recipes import Optimisation


def build_optimizer(model: nn.Module, optimisation: Optimisation) -> torch.optim.AdamW:
    """Adam with bias correction and decoupled weight decay, but none on biases and LayerNorm (as in BERT)."""
    matrices = [weight for weight in model.parameters() if weight.ndim > 1]
    vectors = [weight for weight in model.parameters() if weight.ndim <= 1]
    return torch.optim.AdamW(
        [
            {"params": matrices, "weight_decay": optimisation.weight_decay},
            {"params": vectors, "weight_decay": 0.0},
        ],
        lr=optimisation.learning_rate,
        betas=(optimisation.beta1, optimisation.beta2),
        eps=optimisation.epsilon,
        fused=True,
    )


def learning_rate(optimisation: Optimisation, step: int, steps: int) -> float:
    """The rate of a step (from 0) of `steps`: linear to the peak, then to zero (gu2020 section 6.1)."""
    rising = max(1, round(optimisation.warmup * steps))
    if step < rising:
        return optimisation.learning_rate * (step + 1) / rising
    return optimisation.learning_rate * (steps - step) / (steps - rising + 1)


def set_learning_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Use this rate for the next update."""
    for group in optimizer.param_groups:
        group["lr"] = rate

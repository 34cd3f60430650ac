"""Learning rate and optimiser of a fine-tuning (gu2020 section 6.2)."""

import torch
from torch import nn

from pubmill.recipes import FinetuningRecipe


def schedule(step: int, total: int, warmup: float) -> float:
    """Share of the peak learning rate at `step` (from 0) of `total` (gu2020 section 6.2).

    The slanted triangle: linear up over the first `warmup` share of the steps, then down to zero.
    """
    rising = warmup * total
    if step + 1 <= rising:
        return (step + 1) / rising
    return min(1.0, (total - step) / (total - rising))


def adam(tagger: nn.Module, recipe: FinetuningRecipe) -> torch.optim.Optimizer:
    """Adam with bias correction; weight decay, where the recipe has it, spares biases and layer norms."""
    parameters = [parameter for parameter in tagger.parameters() if parameter.requires_grad]
    matrices = [parameter for parameter in parameters if parameter.ndim > 1]
    others = [parameter for parameter in parameters if parameter.ndim <= 1]
    groups = [
        {"params": matrices, "weight_decay": recipe.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=recipe.learning_rate, fused=True)

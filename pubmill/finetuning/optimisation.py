"""Learning rate and optimiser of a fine-tuning (gu2020 section 6.2)."""

import torch

from pubmill.finetuning.heads import TaskModel
from pubmill.recipes import FinetuningRecipe


def schedule(step: int, total: int, warmup: float) -> float:
    """Share of the peak learning rate at `step` (from 0) of `total` (gu2020 section 6.2).

    The slanted triangle: linear up over the first `warmup` share of the steps, then down to zero.
    """
    rising = warmup * total
    if step + 1 <= rising:
        return (step + 1) / rising
    return min(1.0, (total - step) / (total - rising))


class Optimiser:
    """Adam over a task model; weight decay, where the recipe has it, spares biases and layer norms."""

    def __init__(self, model: TaskModel, recipe: FinetuningRecipe) -> None:
        self.recipe = recipe
        parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        matrices = [parameter for parameter in parameters if parameter.ndim > 1]
        others = [parameter for parameter in parameters if parameter.ndim <= 1]
        groups = [
            {"params": matrices, "weight_decay": recipe.weight_decay},
            {"params": others, "weight_decay": 0.0},
        ]
        self.parameters = parameters
        self.adam = torch.optim.AdamW(groups, lr=recipe.learning_rate, fused=True)

    def step(self, step: int, total: int) -> None:
        """Clip the gradients and make update `step` (from 0) of `total`; the gradients are gone after it."""
        torch.nn.utils.clip_grad_norm_(self.parameters, self.recipe.max_gradient_norm, foreach=True)
        rate = self.recipe.learning_rate * schedule(step, total, self.recipe.warmup)
        for group in self.adam.param_groups:
            group["lr"] = rate
        self.adam.step()
        self.adam.zero_grad()

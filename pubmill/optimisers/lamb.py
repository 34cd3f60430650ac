"""LAMB (You et al. 2020)."""

from typing import Any

import torch
from torch import Tensor


class Lamb(torch.optim.Optimizer):
    """LAMB (You et al. 2020, algorithm 2), with bias correction and decoupled weight decay.

    For each weight matrix, Adam's update is scaled by the ratio of the weights' norm to the update's norm.
    Vectors, whose group has no weight decay, get Adam's update, as in the published BERT and ALBERT programs.
    torch has no LAMB.
    """

    def __init__(
        self, params: Any, lr: float, betas: tuple[float, float], eps: float, weight_decay: float = 0.0
    ) -> None:
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Update every weight that has a gradient."""
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    self._update(weight, group)

    def _update(self, weight: Tensor, group: dict[str, Any]) -> None:
        state = self.state[weight]
        if not state:
            state["step"] = torch.zeros(())
            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(weight), torch.zeros_like(weight)
        state["step"] += 1
        first, second = group["betas"]
        state["exp_avg"].lerp_(weight.grad, 1 - first)
        state["exp_avg_sq"].mul_(second).addcmul_(weight.grad, weight.grad, value=1 - second)
        count = state["step"].item()
        mean, square = state["exp_avg"] / (1 - first**count), state["exp_avg_sq"] / (1 - second**count)
        direction = mean / (square.sqrt() + group["eps"]) + group["weight_decay"] * weight
        ratio = torch.ones((), device=weight.device)
        if group["weight_decay"]:
            sizes = weight.norm(), direction.norm()
            ratio = torch.where((sizes[0] > 0) & (sizes[1] > 0), sizes[0] / sizes[1], ratio)
        weight.sub_(direction * (group["lr"] * ratio))

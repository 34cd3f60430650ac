"""An optimiser with one moment, which no recipe of ours names."""

from typing import Any

import torch


class Signs(torch.optim.Optimizer):
    """Moves each weight by the sign of a running mean of its gradients."""

    def __init__(
        self, params: Any, lr: float, betas: tuple[float, float], eps: float, weight_decay: float = 0.0
    ) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for weight in group["params"]:
                mean = self.state[weight].setdefault("mean", torch.zeros_like(weight))
                mean.lerp_(weight.grad, 1 - group["betas"][0])
                weight.sub_(group["lr"] * mean.sign())

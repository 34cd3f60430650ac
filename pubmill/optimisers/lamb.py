"""LAMB (You et al. 2020)."""

from typing import Any

import torch
from torch import Tensor

Tensors = list[Tensor] | tuple[Tensor, ...]


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
        """Update every weight that has a gradient, all weights of a group by the same few operations."""
        for group in self.param_groups:
            if weights := [weight for weight in group["params"] if weight.grad is not None]:
                self._update(weights, group)

    def _update(self, weights: list[Tensor], group: dict[str, Any]) -> None:
        states = [self._begin(weight) for weight in weights]
        gradients = [weight.grad for weight in weights if weight.grad is not None]
        means, squares = ([state[name] for state in states] for name in ("exp_avg", "exp_avg_sq"))
        first, second = group["betas"]
        torch._foreach_lerp_(means, gradients, 1 - first)
        torch._foreach_mul_(squares, second)
        torch._foreach_addcmul_(squares, gradients, gradients, value=1 - second)
        counts = [state["step"].add_(1).item() for state in states]
        directions = torch._foreach_div(means, [1 - first**count for count in counts])
        roots = torch._foreach_div(squares, [1 - second**count for count in counts])
        torch._foreach_sqrt_(roots)
        torch._foreach_add_(roots, group["eps"])
        torch._foreach_div_(directions, roots)
        if group["weight_decay"]:
            torch._foreach_add_(directions, torch._foreach_mul(weights, group["weight_decay"]))
            rates = group["lr"] * _trust_ratios(weights, directions)
            torch._foreach_mul_(directions, list(rates.unbind()))
        else:
            torch._foreach_mul_(directions, group["lr"])
        torch._foreach_sub_(weights, directions)

    def _begin(self, weight: Tensor) -> dict[str, Tensor]:
        """Return the state of a weight, at first zeros."""
        state: dict[str, Tensor] = self.state[weight]
        if not state:
            state["step"] = torch.zeros(())
            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(weight), torch.zeros_like(weight)
        return state


def _trust_ratios(weights: Tensors, directions: Tensors) -> Tensor:
    """Return the norm of each weight over that of its update (weights,); 1 where either is 0."""
    sizes, steps = (torch.stack(torch._foreach_norm(tensors)) for tensors in (weights, directions))
    return torch.where((sizes > 0) & (steps > 0), sizes / steps, 1.0)

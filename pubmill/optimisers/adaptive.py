"""What optimisers with Adam's two running means have in common."""

from typing import Any

import torch
from torch import Tensor


class Adaptive(torch.optim.Optimizer):
    """An optimiser whose update of all weights of a group is a few operations, `_update`. `lr` at
    construction is the peak; the schedule changes `lr` of the groups."""

    def __init__(
        self, params: Any, lr: float, betas: tuple[float, float], eps: float, weight_decay: float = 0.0
    ) -> None:
        defaults = {"lr": lr, "peak": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, defaults)

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Update every weight that has a gradient."""
        for group in self.param_groups:
            if weights := [weight for weight in group["params"] if weight.grad is not None]:
                gradients = [weight.grad for weight in weights if weight.grad is not None]
                self._update(weights, gradients, [self._begin(weight) for weight in weights], group)

    def _update(
        self, weights: list[Tensor], gradients: list[Tensor], states: list[dict[str, Tensor]], group: Any
    ) -> None:
        """Update the weights of a group in place; `states`: number of steps and running means of each."""
        raise NotImplementedError

    def _begin(self, weight: Tensor) -> dict[str, Tensor]:
        """Return the state of a weight, at first zeros."""
        state: dict[str, Tensor] = self.state[weight]
        if not state:
            state["step"] = torch.zeros(())
            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(weight), torch.zeros_like(weight)
        return state


def running_means(states: list[dict[str, Tensor]]) -> tuple[list[Tensor], list[Tensor]]:
    """Return the running means of gradients and of their squares."""
    return [state["exp_avg"] for state in states], [state["exp_avg_sq"] for state in states]


def move_means(
    means: list[Tensor], squares: list[Tensor], gradients: list[Tensor], first: float, second: float
) -> None:
    """Move the running means towards the gradients and their squares."""
    torch._foreach_lerp_(means, gradients, 1 - first)
    torch._foreach_mul_(squares, second)
    torch._foreach_addcmul_(squares, gradients, gradients, value=1 - second)

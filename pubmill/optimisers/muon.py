"""Muon (Jordan et al. 2024): orthogonal updates of hidden matrices; AdamW updates all other weights."""

from typing import Any

import torch
from torch import Tensor

from pubmill.optimisers import ITERATIONS

MOMENTUM = 0.95
COEFFICIENTS = 3.4445, -4.775, 2.0315
MATCHED = 0.2
"""Root mean square of AdamW's updates, and of those of matrices (Liu et al. 2025), so that one rate fits
all."""


class Muon(torch.optim.AdamW):
    """AdamW, but in groups that are `orthogonal` the update is the momentum's nearest orthogonal matrix,
    approximated by five Newton-Schulz iterations, with Nesterov momentum. The numbers are those of
    torch.optim.Muon with `match_rms_adamw`, which has no AdamW for the other weights. Equal shapes are
    updated together."""

    def __init__(
        self, params: Any, lr: float, betas: tuple[float, float], eps: float, weight_decay: float = 0.0
    ) -> None:
        super().__init__(params, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, fused=True)
        for group in self.param_groups:
            group.setdefault("orthogonal", False)
        self._step_supports_amp_scaling = False  # Otherwise, steps that overflow would change the matrices.

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        groups = self.param_groups
        try:
            self.param_groups = [group for group in groups if not group["orthogonal"]]
            super().step()
        finally:
            self.param_groups = groups
        for group in groups:
            if group["orthogonal"]:
                self._update_matrices(group)

    def _update_matrices(self, group: dict[str, Any]) -> None:
        alike = dict[torch.Size, list[Tensor]]()
        for weight in group["params"]:
            if weight.grad is not None:
                alike.setdefault(weight.shape, []).append(weight)
        for shape, weights in alike.items():
            moved = orthogonal(torch.stack([self._momentum(weight) for weight in weights]))
            torch._foreach_mul_(weights, 1 - group["lr"] * group["weight_decay"])
            scale = group["lr"] * MATCHED * max(shape) ** 0.5
            torch._foreach_sub_(weights, list((moved.to(weights[0].dtype) * scale).unbind()))

    def _momentum(self, weight: Tensor) -> Tensor:
        state = self.state[weight]
        if not state:
            state["step"], state["exp_avg"] = torch.zeros(()), torch.zeros_like(weight)
        assert weight.grad is not None
        state["step"].add_(1)
        state["exp_avg"].lerp_(weight.grad, 1 - MOMENTUM)
        moved: Tensor = weight.grad.lerp(state["exp_avg"], MOMENTUM)
        return moved


def orthogonal(matrices: Tensor) -> Tensor:
    """Return approximately nearest orthogonal matrices, in bfloat16 (singular values of about 0.7 to 1.2)."""
    wide = matrices.shape[-2] > matrices.shape[-1]
    estimate = (matrices.mT if wide else matrices).bfloat16()
    estimate = estimate / estimate.norm(dim=(-2, -1), keepdim=True).clamp_min(1e-7)
    first, second, third = COEFFICIENTS
    for _ in range(ITERATIONS):
        gram = estimate @ estimate.mT
        gram = torch.baddbmm(gram, gram, gram, beta=second, alpha=third)
        estimate = torch.baddbmm(estimate, gram, estimate, beta=first)
    return estimate.mT if wide else estimate

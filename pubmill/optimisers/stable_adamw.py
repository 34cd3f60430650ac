"""AdamW with decoupled decay, and StableAdamW (Wortsman et al. 2023) as ModernBERT's program has it."""

from typing import Any

import torch
from torch import Tensor


class DecoupledAdamW(torch.optim.Optimizer):
    """AdamW whose decay is not multiplied by the rate: a weight loses `weight_decay` times the share of the
    peak rate (Loshchilov and Hutter 2019, equation 12; MosaicML Composer's class of this name).

    `lr` at construction is the peak; the schedule changes `lr` of the groups.
    """

    stable = False

    def __init__(
        self, params: Any, lr: float, betas: tuple[float, float], eps: float, weight_decay: float = 0.0
    ) -> None:
        defaults = {"lr": lr, "peak": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
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
        count = int(states[0]["step"].item())
        for state in states:
            state["step"].add_(1)
        # With these the running means need no correction for their beginning at zero.
        first, second = (beta * (1 - beta**count) / (1 - beta ** (count + 1)) for beta in group["betas"])
        torch._foreach_lerp_(means, gradients, 1 - first)
        torch._foreach_mul_(squares, second)
        torch._foreach_addcmul_(squares, gradients, gradients, value=1 - second)
        rates = self._rates(gradients, squares, group)
        torch._foreach_mul_(weights, [1 - rate / group["peak"] * group["weight_decay"] for rate in rates])
        directions = torch._foreach_sqrt(squares)
        torch._foreach_add_(directions, group["eps"])
        directions = torch._foreach_div(means, directions)
        torch._foreach_mul_(directions, rates)
        torch._foreach_sub_(weights, directions)

    def _rates(self, gradients: list[Tensor], squares: list[Tensor], group: dict[str, Any]) -> list[float]:
        """Return the rate of each weight."""
        if not self.stable:
            return [group["lr"]] * len(gradients)
        roots = torch._foreach_sqrt(torch._foreach_clamp_min(squares, group["eps"] ** 2))
        norms = torch.stack(torch._foreach_norm(torch._foreach_div(gradients, roots))).tolist()
        sizes = [gradient.numel() ** 0.5 for gradient in gradients]
        return [group["lr"] / max(1.0, norm / size) for norm, size in zip(norms, sizes, strict=True)]

    def _begin(self, weight: Tensor) -> dict[str, Tensor]:
        """Return the state of a weight, at first zeros."""
        state: dict[str, Tensor] = self.state[weight]
        if not state:
            state["step"] = torch.zeros(())
            state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(weight), torch.zeros_like(weight)
        return state


class StableAdamW(DecoupledAdamW):
    """The same with the rate of each weight divided by the root mean square of its gradient over the running
    one, where that exceeds 1; it replaces gradient clipping (Wortsman et al. 2023, algorithm 2;
    AnswerDotAI/ModernBERT@8c57a0f src/optimizer.py)."""

    stable = True

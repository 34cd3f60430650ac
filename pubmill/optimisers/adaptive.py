"""Optimisers with Adam's two running means: LAMB, AdamW with decoupled decay, StableAdamW."""

from typing import Any

import torch
from torch import Tensor


class Adaptive(torch.optim.Optimizer):
    """Base of optimisers that update all weights of a group at once, in a few operations (`_update`). `lr` at
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


def move_means(
    states: list[dict[str, Tensor]], gradients: list[Tensor], first: float, second: float
) -> tuple[list[Tensor], list[Tensor]]:
    """Move the running means towards the gradients and their squares; return them."""
    means, squares = ([state[name] for state in states] for name in ("exp_avg", "exp_avg_sq"))
    torch._foreach_lerp_(means, gradients, 1 - first)
    torch._foreach_mul_(squares, second)
    torch._foreach_addcmul_(squares, gradients, gradients, value=1 - second)
    return means, squares


class Lamb(Adaptive):
    """LAMB (You et al. 2020, algorithm 2), with bias correction and decoupled weight decay. For each weight
    matrix, Adam's update is scaled by the ratio of the weights' norm to the update's norm (1 where either is
    0). Vectors, whose group has no weight decay, get Adam's update, as in BERT's and ALBERT's programs. torch
    has no LAMB."""

    def _update(
        self, weights: list[Tensor], gradients: list[Tensor], states: list[dict[str, Tensor]], group: Any
    ) -> None:
        first, second = group["betas"]
        means, squares = move_means(states, gradients, first, second)
        counts = [state["step"].add_(1).item() for state in states]
        directions = torch._foreach_div(means, [1 - first**count for count in counts])
        roots = torch._foreach_div(squares, [1 - second**count for count in counts])
        torch._foreach_sqrt_(roots)
        torch._foreach_add_(roots, group["eps"])
        torch._foreach_div_(directions, roots)
        if decay := group["weight_decay"]:
            torch._foreach_add_(directions, torch._foreach_mul(weights, decay))
            sizes, steps = (torch.stack(torch._foreach_norm(some)) for some in (weights, directions))
            ratios = torch.where((sizes > 0) & (steps > 0), sizes / steps, 1.0)
            torch._foreach_mul_(directions, list((group["lr"] * ratios).unbind()))
        else:
            torch._foreach_mul_(directions, group["lr"])
        torch._foreach_sub_(weights, directions)


class DecoupledAdamW(Adaptive):
    """AdamW whose decay is not multiplied by the rate: a weight loses `weight_decay` times the share of the
    peak rate (Loshchilov and Hutter 2019, equation 12; MosaicML Composer's class of this name)."""

    stable = False

    def _update(
        self, weights: list[Tensor], gradients: list[Tensor], states: list[dict[str, Tensor]], group: Any
    ) -> None:
        count = int(states[0]["step"].item())
        for state in states:
            state["step"].add_(1)
        # With these the running means need no correction for their beginning at zero.
        first, second = (beta * (1 - beta**count) / (1 - beta ** (count + 1)) for beta in group["betas"])
        means, squares = move_means(states, gradients, first, second)
        rates = self._rates(gradients, squares, group)
        torch._foreach_mul_(weights, [1 - rate / group["peak"] * group["weight_decay"] for rate in rates])
        directions = torch._foreach_sqrt(squares)
        torch._foreach_add_(directions, group["eps"])
        directions = torch._foreach_div(means, directions)
        torch._foreach_mul_(directions, rates)
        torch._foreach_sub_(weights, directions)

    def _rates(self, gradients: list[Tensor], squares: list[Tensor], group: dict[str, Any]) -> list[float]:
        if not self.stable:
            return [group["lr"]] * len(gradients)
        roots = torch._foreach_sqrt(torch._foreach_clamp_min(squares, group["eps"] ** 2))
        norms = torch.stack(torch._foreach_norm(torch._foreach_div(gradients, roots))).tolist()
        sizes = [gradient.numel() ** 0.5 for gradient in gradients]
        return [group["lr"] / max(1.0, norm / size) for norm, size in zip(norms, sizes, strict=True)]


class StableAdamW(DecoupledAdamW):
    """`DecoupledAdamW` that divides the rate of each weight tensor by the root mean square of its gradient
    relative to the running one, where that exceeds 1; it replaces gradient clipping (Wortsman et al. 2023,
    algorithm 2; AnswerDotAI/ModernBERT@8c57a0f src/optimizer.py)."""

    stable = True

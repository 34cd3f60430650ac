"""AdamW with decoupled decay, and StableAdamW (Wortsman et al. 2023) as ModernBERT's program has it."""

from typing import Any

import torch
from torch import Tensor

from pubmill.optimisers.adaptive import Adaptive, move_means, running_means


class DecoupledAdamW(Adaptive):
    """AdamW whose decay is not multiplied by the rate: a weight loses `weight_decay` times the share of the
    peak rate (Loshchilov and Hutter 2019, equation 12; MosaicML Composer's class of this name)."""

    stable = False

    def _update(
        self, weights: list[Tensor], gradients: list[Tensor], states: list[dict[str, Tensor]], group: Any
    ) -> None:
        means, squares = running_means(states)
        count = int(states[0]["step"].item())
        for state in states:
            state["step"].add_(1)
        # With these the running means need no correction for their beginning at zero.
        first, second = (beta * (1 - beta**count) / (1 - beta ** (count + 1)) for beta in group["betas"])
        move_means(means, squares, gradients, first, second)
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


class StableAdamW(DecoupledAdamW):
    """The same with the rate of each weight divided by the root mean square of its gradient over the running
    one, where that exceeds 1; it replaces gradient clipping (Wortsman et al. 2023, algorithm 2;
    AnswerDotAI/ModernBERT@8c57a0f src/optimizer.py)."""

    stable = True

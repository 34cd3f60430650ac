"""LAMB (You et al. 2020)."""

from typing import Any

import torch
from torch import Tensor

from pubmill.optimisers.adaptive import Adaptive, move_means, running_means

Tensors = list[Tensor] | tuple[Tensor, ...]


class Lamb(Adaptive):
    """LAMB (You et al. 2020, algorithm 2), with bias correction and decoupled weight decay.

    For each weight matrix, Adam's update is scaled by the ratio of the weights' norm to the update's norm.
    Vectors, whose group has no weight decay, get Adam's update, as in the published BERT and ALBERT programs.
    torch has no LAMB.
    """

    def _update(
        self, weights: list[Tensor], gradients: list[Tensor], states: list[dict[str, Tensor]], group: Any
    ) -> None:
        means, squares = running_means(states)
        first, second = group["betas"]
        move_means(means, squares, gradients, first, second)
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


def _trust_ratios(weights: Tensors, directions: Tensors) -> Tensor:
    """Return the norm of each weight over that of its update (weights,); 1 where either is 0."""
    sizes, steps = (torch.stack(torch._foreach_norm(tensors)) for tensors in (weights, directions))
    return torch.where((sizes > 0) & (steps > 0), sizes / steps, 1.0)

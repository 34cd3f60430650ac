"""Matrices move as torch.optim.Muon moves them, all other weights as AdamW does."""

from typing import Any

import torch

from pubmill.optimisers.muon import Muon, orthogonal


def test_matrices_are_moved_as_by_torch() -> None:
    torch.manual_seed(1)
    ends = []
    start = [torch.randn(6, 4), torch.randn(6, 4), torch.randn(4, 8)]
    gradients = [[torch.randn_like(one) for one in start] for _ in range(3)]
    for ours in (True, False):
        weights = [torch.nn.Parameter(one.clone()) for one in start]
        made: torch.optim.Optimizer
        if ours:
            groups = [{"params": weights, "orthogonal": True}]
            made = Muon(groups, lr=0.1, betas=(0.9, 0.98), eps=1e-8, weight_decay=0.1)
        else:
            made = torch.optim.Muon(weights, lr=0.1, weight_decay=0.1, adjust_lr_fn="match_rms_adamw")
        for step in gradients:
            for weight, gradient in zip(weights, step, strict=True):
                weight.grad = gradient.clone()
            made.step()
        ends.append(weights)
    for left, right in zip(*ends, strict=True):
        # Updates of 0.05, in bfloat16; the products of several matrices may round otherwise.
        torch.testing.assert_close(left, right, atol=1e-3, rtol=0)


def test_other_weights_are_moved_by_adamw() -> None:
    torch.manual_seed(1)
    start, gradients, ends = torch.randn(5), [torch.randn(5) for _ in range(3)], []
    for kind in (Muon, torch.optim.AdamW):
        weight, matrix = torch.nn.Parameter(start.clone()), torch.nn.Parameter(torch.eye(3))
        groups: list[Any] = [{"params": [weight]}]
        if kind is Muon:
            groups.append({"params": [matrix], "orthogonal": True})
        made = kind(groups, lr=0.1, betas=(0.9, 0.98), eps=1e-8, weight_decay=0.1)
        for gradient in gradients:
            weight.grad, matrix.grad = gradient.clone(), torch.ones(3, 3)
            made.step()
        ends.append(weight.detach())
    torch.testing.assert_close(*ends)
    assert len(made.param_groups) == 1


def test_singular_values_become_about_one() -> None:
    torch.manual_seed(1)
    for shape in ((2, 30, 10), (2, 10, 30), (1, 8, 8)):
        values = torch.linalg.svdvals(orthogonal(torch.randn(shape)).float())
        assert values.min() > 0.3 and values.max() < 1.3

"""StableAdamW and AdamW with decoupled decay are their formulas; against loops over single weights."""

import pytest
import torch

from pubmill.optimisers.stable_adamw import DecoupledAdamW, StableAdamW

BETAS, EPSILON, DECAY = (0.9, 0.98), 1e-6, 0.03


@pytest.mark.parametrize("kind", [StableAdamW, DecoupledAdamW])
def test_updates_are_those_of_the_formula(kind: type[DecoupledAdamW]) -> None:
    torch.manual_seed(1)
    start, rates = [torch.randn(4, 3), torch.randn(5)], (0.1, 0.1, 0.02)
    gradients = [[torch.randn_like(one) * size for one in start] for size in (1.0, 0.1, 30.0)]
    weights = [torch.nn.Parameter(one.clone()) for one in start]
    made = kind(weights, lr=0.1, betas=BETAS, eps=EPSILON, weight_decay=DECAY)
    clipped, ends = 0, []
    for number, weight in enumerate(weights):
        expected, mean, square = start[number], torch.zeros_like(weight), torch.zeros_like(weight)
        for step, rate in enumerate(rates, 1):
            gradient = gradients[step - 1][number]
            mean, square = 0.9 * mean + 0.1 * gradient, 0.98 * square + 0.02 * gradient**2
            first, second = mean / (1 - 0.9**step), square / (1 - 0.98**step)
            root = (gradient**2 / second.clamp_min(EPSILON**2)).mean().sqrt().item()
            clipped += root > 1
            slowed = rate / max(1.0, root) if kind is StableAdamW else rate
            expected = expected * (1 - slowed / 0.1 * DECAY) - slowed * first / (second.sqrt() + EPSILON)
        ends.append(expected)
    for step, rate in enumerate(rates):
        for group in made.param_groups:
            group["lr"] = rate
        for number, weight in enumerate(weights):
            weight.grad = gradients[step][number].clone()
        made.step()
    for weight, expected in zip(weights, ends, strict=True):
        torch.testing.assert_close(weight.detach(), expected, atol=1e-6, rtol=1e-5)
    assert clipped > 1


def test_without_decay_it_is_adam() -> None:
    torch.manual_seed(1)
    start, gradients = torch.randn(5), [torch.randn(5) for _ in range(4)]
    ends = []
    for kind in (DecoupledAdamW, torch.optim.AdamW):
        weight = torch.nn.Parameter(start.clone())
        optimiser = kind([weight], lr=0.1, betas=BETAS, eps=EPSILON, weight_decay=0.0)
        for gradient in gradients:
            weight.grad = gradient.clone()
            optimiser.step()
        ends.append(weight.detach())
    torch.testing.assert_close(*ends)

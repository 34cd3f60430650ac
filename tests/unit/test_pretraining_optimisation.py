"""Adam and LAMB move weights as their papers' formulas say, and the rate rises and falls."""

import numpy as np
import pytest
import torch

from pubmill.pretraining.optimisation import Lamb, build_optimiser, learning_rate
from pubmill.recipes import Optimisation


def test_lamb_is_the_papers_formula() -> None:
    """Against algorithm 2 of You et al. (2020), written out for one matrix, over three steps."""
    torch.manual_seed(1)
    weight = torch.nn.Parameter(torch.randn(4, 3))
    expected, mean, square = weight.detach().clone(), torch.zeros(4, 3), torch.zeros(4, 3)
    optimiser = Lamb([weight], lr=0.1, betas=(0.9, 0.99), eps=1e-6, weight_decay=0.01)
    for step in range(1, 4):
        weight.grad = torch.randn(4, 3)
        mean = 0.9 * mean + 0.1 * weight.grad
        square = 0.99 * square + 0.01 * weight.grad**2
        ratio = (mean / (1 - 0.9**step)) / ((square / (1 - 0.99**step)).sqrt() + 1e-6)
        direction = ratio + 0.01 * expected
        expected = expected - 0.1 * expected.norm() / direction.norm() * direction
        optimiser.step()
    torch.testing.assert_close(weight.detach(), expected)


def test_without_decay_lamb_is_adam() -> None:
    torch.manual_seed(1)
    start, gradients = torch.randn(5), [torch.randn(5) for _ in range(3)]
    ends = []
    for kind in (Lamb, torch.optim.AdamW):
        weight = torch.nn.Parameter(start.clone())
        optimiser = kind([weight], lr=0.1, betas=(0.9, 0.99), eps=1e-6, weight_decay=0.0)
        for gradient in gradients:
            weight.grad = gradient.clone()
            optimiser.step()
        ends.append(weight.detach())
    torch.testing.assert_close(*ends)


def test_a_matrix_of_zeros_is_moved_all_the_same() -> None:
    weight = torch.nn.Parameter(torch.zeros(2, 2))
    weight.grad = torch.ones(2, 2)
    Lamb([weight], lr=0.1, betas=(0.9, 0.99), eps=1e-6, weight_decay=0.01).step()
    torch.testing.assert_close(weight.detach(), torch.full((2, 2), -0.1), atol=1e-5, rtol=0)


@pytest.mark.parametrize("kind", ["adamw", "lamb"])
def test_vectors_have_no_decay(kind: str) -> None:
    layer = torch.nn.Linear(3, 3)
    made = build_optimiser(layer.parameters(), Optimisation(optimiser=kind, learning_rate=1.0))  # type: ignore[arg-type]
    decays = {id(weight): group["weight_decay"] for group in made.param_groups for weight in group["params"]}
    assert decays == {id(layer.weight): 0.01, id(layer.bias): 0.0}


def test_the_learning_rate_rises_and_falls_linearly() -> None:
    rates = np.array([learning_rate(Optimisation(learning_rate=1.0), step, 100) for step in range(100)])
    assert rates.argmax() == 9 and rates.max() == 1.0 and rates.min() > 0
    np.testing.assert_allclose(np.diff(rates[:10]), 0.1)
    np.testing.assert_allclose(np.diff(rates[9:]), -1 / 91)

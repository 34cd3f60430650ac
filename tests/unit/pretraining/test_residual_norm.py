"""LayerNorm after a residual connection has the gradients of PyTorch's functions, by one kernel or without.

The kernel's own text runs on a stand-in for Triton.
"""

import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from pubmill.pretraining import residual_norm
from pubmill.pretraining.fused_layer import FusedLayer
from pubmill.pretraining.residual_norm import norm_slopes, plain_slopes
from pubmill.pretraining.seeded_dropout import draw_seeds, drop
from tests.gpu import pretended_triton

CPU = torch.device("cpu")
EPSILON = 1e-5


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The kernel, compiled by the stand-in."""
    for name in ("triton", "triton.language", "pubmill.pretraining.norm_kernel"):
        monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.delitem(sys.modules, name)
    pretended_triton.install()
    return residual_norm._kernel


def numbers(rows: int, width: int, both: bool, dtype: torch.dtype = torch.bfloat16) -> list[Any]:
    """Two gradients, what was normalised, a weight and a seed."""
    seeded = torch.Generator().manual_seed(rows)
    first, second, summed = (torch.randn(rows, width, generator=seeded).to(dtype) for _ in range(3))
    weight = torch.rand(width, generator=seeded).to(dtype) + 0.5
    return [first, second if both else None, 3 * summed + 1, weight, torch.tensor([5, -9]).int()]


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("rate", [0.0, 0.1])
def test_gradients_are_those_of_autograd(rate: float, both: bool) -> None:
    first, second, summed, weight, seed = numbers(6, 5, both, torch.float64)
    product, bias, shift = torch.randn_like(summed), torch.randn(5).double(), torch.randn(5).double()
    residual = summed - drop(product + bias, rate, seed)
    given = [tensor.requires_grad_() for tensor in (residual, product, weight, shift, bias)]
    total = given[0] + drop(given[1] + given[4], rate, seed)
    F.layer_norm(total, (5,), given[2], given[3], EPSILON).backward(
        first if second is None else first + second
    )
    found = plain_slopes(first, second, summed, weight.detach(), seed, rate, EPSILON)
    for one, tensor in zip(found, given, strict=True):
        torch.testing.assert_close(one if one.numel() else found[0], tensor.grad)


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("rate", [0.0, 0.1])
@pytest.mark.parametrize("size", [(1, 1), (64, 1024), (65, 768), (130, 48)])
def test_the_kernel_gives_what_torch_gives(
    rate: float, both: bool, size: tuple[int, int], kernel: Callable[..., Any]
) -> None:
    """Also beyond the last row and column of a program, and with the same mask."""
    given = *numbers(*size, both), rate, EPSILON
    ours, theirs = kernel(*given), plain_slopes(*given)
    for found, expected in zip(ours[:2], theirs[:2], strict=True):
        assert found.shape == expected.shape and found.dtype == torch.bfloat16
        torch.testing.assert_close(found, expected, rtol=1e-2, atol=1e-3)
        assert found.eq(0).equal(expected.eq(0)) or size == (1, 1)
    for found, expected in zip(ours[2:], theirs[2:], strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-2, atol=0.1)


@pytest.mark.parametrize("both", [False, True])
def test_a_kernel_is_checked_before_its_first_use(
    both: bool, kernel: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    check, right = residual_norm._check_kernel, residual_norm._kernel
    check.cache_clear()
    check(CPU, 48, both, 0.1, EPSILON)

    def wrong(changed: int, change: Callable[[Tensor], Tensor]) -> Callable[..., Any]:
        return lambda *given: [
            change(one) if number == changed else one for number, one in enumerate(right(*given))
        ]

    for changed in range(5):
        for change in (lambda one: one * 1.05, lambda one: one + 0.25, lambda one: one * float("nan")):
            check.cache_clear()
            monkeypatch.setattr(residual_norm, "_kernel", wrong(changed, change))
            with pytest.raises(RuntimeError, match="gives other numbers than PyTorch's"):
                check(CPU, 48, both, 0.1, EPSILON)
    check.cache_clear()


def test_a_processor_needs_no_kernel() -> None:
    for rate, both in ((0.0, True), (0.1, False)):
        given = *numbers(3, 5, both), rate, EPSILON
        for found, expected in zip(norm_slopes(*given), plain_slopes(*given), strict=True):
            assert torch.equal(found, expected)
        torch.library.opcheck(norm_slopes, given)


@pytest.mark.parametrize("rates", [(0.0, 0.0), (0.2, 0.3), (0.2, 0.0)])
@pytest.mark.parametrize("gelu", ["none", "tanh"])
def test_a_whole_layer_has_right_gradients(gelu: str, rates: tuple[float, float]) -> None:
    seeded = torch.Generator().manual_seed(1)
    shapes = [(4, 3), (4, 3), (3, 3), (3,), (3,), (3,), (5, 3), (5,), (3, 5), (3,), (3,), (3,)]
    given = [torch.randn(shape, generator=seeded, dtype=torch.float64).requires_grad_() for shape in shapes]
    seeds = draw_seeds(2, device=CPU)

    def layer(context: Tensor, hidden: Tensor, *weights: Tensor) -> Tensor:
        found: Tensor = FusedLayer.apply(context, hidden, seeds, rates, EPSILON, gelu, *weights)
        return found

    assert torch.autograd.gradcheck(layer, given)

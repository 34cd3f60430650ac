"""GELU after a bias has the gradients of PyTorch's functions, by one kernel or without.

The kernel's own text runs on a stand-in for Triton.
"""

import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from pubmill.pretraining import biased_gelu
from pubmill.pretraining.biased_gelu import BiasedGelu, gelu_slopes, plain_slopes
from tests.gpu import pretended_triton

KINDS = ["none", "tanh"]
CPU = torch.device("cpu")


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Tensor, Tensor]]:
    """The kernel, compiled by the stand-in."""
    for name in ("triton", "triton.language", "pubmill.pretraining.gelu_kernel"):
        monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.delitem(sys.modules, name)
    pretended_triton.install()
    return biased_gelu._kernel


def numbers(rows: int, width: int) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients, products and biases in bfloat16."""
    seeded = torch.Generator().manual_seed(rows)
    shapes = (rows, width), (rows, width), (width,)
    slope, product, bias = (torch.randn(shape, generator=seeded).bfloat16() for shape in shapes)
    return slope, product * 3, bias


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_right(kind: str) -> None:
    seeded = torch.Generator().manual_seed(1)
    given = [torch.randn(size, generator=seeded, dtype=torch.float64) for size in ((5, 3), (3,))]
    product, bias = (tensor.requires_grad_() for tensor in given)
    found = BiasedGelu.apply(product, bias, kind)
    assert torch.equal(found, F.gelu(product + bias, approximate=kind))
    assert torch.autograd.gradcheck(lambda *two: BiasedGelu.apply(*two, kind), (product, bias))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [(1, 1), (64, 1024), (65, 1025), (130, 48)])
def test_the_kernel_gives_what_torch_gives(
    kind: str, size: tuple[int, int], kernel: Callable[..., tuple[Tensor, Tensor]]
) -> None:
    """Also beyond the last row and column of a program."""
    given = numbers(*size)
    slopes, sums = kernel(*given, kind)
    theirs, their_sums = plain_slopes(*given, kind)
    assert slopes.dtype == sums.dtype == torch.bfloat16
    torch.testing.assert_close(slopes, theirs, rtol=1e-2, atol=1e-3)
    torch.testing.assert_close(sums, their_sums, rtol=1e-2, atol=0.1)


def test_rows_that_are_not_contiguous_are_read_in_order(
    kernel: Callable[..., tuple[Tensor, Tensor]],
) -> None:
    slope, product, bias = numbers(6, 8)
    turned = slope.t().contiguous().t()
    assert not turned.is_contiguous()
    assert kernel(turned, product, bias, "none")[0].equal(kernel(slope, product, bias, "none")[0])


@pytest.mark.parametrize("kind", KINDS)
def test_a_kernel_is_checked_before_its_first_use(
    kind: str, kernel: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    biased_gelu._check_kernel.cache_clear()
    biased_gelu._check_kernel(CPU, kind)
    right = biased_gelu._kernel
    wrongs: tuple[Callable[..., tuple[Tensor, Tensor]], ...] = (
        lambda *given: (right(*given)[0] * 1.05, right(*given)[1]),
        lambda *given: (right(*given)[0], right(*given)[1] + 0.25),
        lambda *given: (right(*given)[0] * float("nan"), right(*given)[1]),
        lambda *given: right(given[0], given[1], given[2], "tanh" if given[3] == "none" else "none"),
    )
    for wrong in wrongs:
        biased_gelu._check_kernel.cache_clear()
        monkeypatch.setattr(biased_gelu, "_kernel", wrong)
        with pytest.raises(RuntimeError, match="gives other numbers than PyTorch's"):
            biased_gelu._check_kernel(CPU, kind)
    biased_gelu._check_kernel.cache_clear()


def test_a_processor_needs_no_kernel() -> None:
    given = numbers(3, 5)
    for found, expected in zip(gelu_slopes(*given, "none"), plain_slopes(*given, "none"), strict=True):
        assert torch.equal(found, expected)
    torch.library.opcheck(gelu_slopes, (*given, "tanh"))

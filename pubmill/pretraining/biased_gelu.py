"""GELU after a bias, for compiled layers on GPUs.

The gradient of the bias is a sum over the rows of GELU's gradient. torch.compile would read these again to
sum them; here one kernel writes and sums them. It is checked against PyTorch's functions before its first
use.
"""

from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

CHECKED = 70, 1040
"""Rows and columns in the check: more than a program of the kernel handles."""


class BiasedGelu(torch.autograd.Function):
    """GELU of `product` (rows, width) plus `bias` (width,); `approximate` as for torch's GELU."""

    @staticmethod
    def forward(ctx: Any, product: Tensor, bias: Tensor, approximate: str) -> Tensor:
        ctx.save_for_backward(product, bias)
        ctx.approximate = approximate
        return F.gelu(product + bias, approximate=approximate)

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor, Tensor, None]:
        found, sums = gelu_slopes(slopes[0], *ctx.saved_tensors, ctx.approximate)
        return found, sums, None


@torch.library.custom_op("pubmill::gelu_slopes", mutates_args=())
def gelu_slopes(slope: Tensor, product: Tensor, bias: Tensor, approximate: str) -> tuple[Tensor, Tensor]:
    """Return the gradients of `product` and `bias`, given that of GELU's result; by the kernel on a GPU.

    Raises a RuntimeError, or what the compiler raises, where the kernel does not work.
    """
    if product.is_cuda:
        _check_kernel(product.device, approximate)
        return _kernel(slope, product, bias, approximate)
    return plain_slopes(slope, product, bias, approximate)


@gelu_slopes.register_fake
def _(slope: Tensor, product: Tensor, bias: Tensor, approximate: str) -> tuple[Tensor, Tensor]:
    return torch.empty_like(product), torch.empty_like(bias)


def plain_slopes(slope: Tensor, product: Tensor, bias: Tensor, approximate: str) -> tuple[Tensor, Tensor]:
    """Return the same by PyTorch's functions, at least in float32."""
    wide = torch.promote_types(product.dtype, torch.float32)
    values = product.to(wide) + bias.to(wide)
    slopes = torch.ops.aten.gelu_backward(slope.to(wide), values, approximate=approximate)
    return slopes.to(product.dtype), slopes.sum(0).to(bias.dtype)


def _kernel(slope: Tensor, product: Tensor, bias: Tensor, approximate: str) -> tuple[Tensor, Tensor]:
    from pubmill.pretraining.gelu_kernel import compiled_slopes

    return compiled_slopes(slope, product, bias, approximate == "tanh")


@cache
def _check_kernel(device: torch.device, approximate: str) -> None:
    """Compile the kernel; raise a RuntimeError if it does not give what PyTorch's functions give."""
    angles = torch.arange(CHECKED[0] * CHECKED[1], device=device, dtype=torch.float32).view(CHECKED)
    slope, product = ((factor * angles).cos().bfloat16() for factor in (0.7, 1.3))
    given = slope, 4 * product, product[0], approximate
    for found, expected in zip(_kernel(*given), plain_slopes(*given), strict=True):
        # Both are computed in float32 and rounded to bfloat16.
        if not torch.allclose(found.float(), expected.float(), rtol=2**-7, atol=1e-4):
            raise RuntimeError("the kernel of GELU's backward pass gives other numbers than PyTorch's")

"""Backward pass of LayerNorm of a sum: of a residual, and of a matrix product plus its bias after dropout.

Its sums over rows (the gradients of the bias and of LayerNorm's weights) come from the same kernel as the
gradients of its inputs: torch.compile would read up to three tensors again for them. The kernel is checked
against PyTorch's functions before its first use.
"""

from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor

from pubmill.pretraining.seeded_dropout import WORDS, drop

Slopes = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]
"""The fields of `NormSlopes`: operations of torch return no named tuples."""
CHECKED_ROWS = 70
"""Rows in the check: more than a program of the kernel handles."""


class NormSlopes(NamedTuple):
    """Gradients of the residual and of the product (rows, width), the latter without elements if there is no
    dropout, as it equals the former; of LayerNorm's weight and bias and of the product's bias (width,)."""

    residual: Tensor
    product: Tensor
    weight: Tensor
    shift: Tensor
    bias: Tensor


@torch.library.custom_op("pubmill::norm_slopes", mutates_args=())
def norm_slopes(
    first: Tensor,
    second: Tensor | None,
    summed: Tensor,
    weight: Tensor,
    seed: Tensor,
    rate: float,
    epsilon: float,
) -> Slopes:
    """Return `NormSlopes`; by the kernel on a GPU.

    `first` and `second`: gradients of LayerNorm's result, which are added; `summed`: what it normalised;
    `seed` and `rate`: of the dropout.

    Raises a RuntimeError, or what the compiler raises, where the kernel does not work.
    """
    if summed.is_cuda:
        _check_kernel(summed.device, summed.shape[1], second is not None, rate, epsilon)
        return _kernel(first, second, summed, weight, seed, rate, epsilon)
    return plain_slopes(first, second, summed, weight, seed, rate, epsilon)


@norm_slopes.register_fake
def _(*given: Any) -> Slopes:
    _, _, summed, weight, _, rate, _ = given
    product = torch.empty_like(summed) if rate else summed.new_empty(0)
    gains, shifts, biases = (torch.empty_like(weight) for _ in range(3))
    return torch.empty_like(summed), product, gains, shifts, biases


def plain_slopes(
    first: Tensor,
    second: Tensor | None,
    summed: Tensor,
    weight: Tensor,
    seed: Tensor,
    rate: float,
    epsilon: float,
) -> Slopes:
    """Return the same by PyTorch's functions, at least in float32."""
    wide, size = torch.promote_types(summed.dtype, torch.float32), summed.shape[1:]
    given, values, gain = first.to(wide), summed.to(wide), weight.to(wide)
    given = given if second is None else given + second.to(wide)
    _, mean, scale = torch.native_layer_norm(values, size, gain, None, epsilon)
    residual, gains, shifts = torch.ops.aten.native_layer_norm_backward(
        given, values, size, mean, scale, gain, torch.zeros_like(gain), [True, True, True]
    )
    product = drop(residual, rate, seed)
    gains, shifts, biases = (one.to(weight.dtype) for one in (gains, shifts, product.sum(0)))
    apart = product if rate else product.new_empty(0)
    return residual.to(summed.dtype), apart.to(summed.dtype), gains, shifts, biases


def _kernel(*given: Any) -> Slopes:
    from pubmill.pretraining.norm_kernel import compiled_slopes

    return compiled_slopes(*given)


@cache
def _check_kernel(device: torch.device, width: int, both: bool, rate: float, epsilon: float) -> None:
    """Compile the kernel; raise a RuntimeError if it does not give what PyTorch's functions give."""
    angles = torch.arange(CHECKED_ROWS * width, device=device, dtype=torch.float32).view(-1, width)
    first, second, summed = ((factor * angles).cos().bfloat16() for factor in (0.7, 1.1, 1.3))
    seed = torch.arange(7, 7 + WORDS, device=device, dtype=torch.int32)
    given = first, second if both else None, 2 * summed, 1 + second[0], seed, rate, epsilon
    for found, expected in zip(_kernel(*given), plain_slopes(*given), strict=True):
        # Both are computed in float32 and rounded to bfloat16, but sums are added in another order.
        if not torch.allclose(found.float(), expected.float(), rtol=2**-7, atol=1e-3):
            raise RuntimeError("the kernel of LayerNorm's backward pass gives other numbers than PyTorch's")

"""Backward pass of GELU after a bias as one kernel, compiled by Triton, which comes with PyTorch's builds for
GPUs only."""

import torch
import triton
import triton.language as tl
from torch import Tensor

BLOCK, ROWS = 1024, 64
"""Columns and rows that a program of the kernel handles."""


@triton.jit  # type: ignore[untyped-decorator]
def _differentiate_block(  # type: ignore[no-untyped-def]
    slope,
    product,
    bias,
    slopes,
    sums,
    rows,
    width,
    columns,
    block: tl.constexpr,
    rows_at_once: tl.constexpr,
    tanh: tl.constexpr,
):
    part = tl.program_id(0)
    at = part % columns * block + tl.arange(0, block)
    first = part // columns * rows_at_once
    inside = at < width
    shift = tl.load(bias + at, mask=inside, other=0.0).to(tl.float32)
    total = tl.zeros((block,), dtype=tl.float32)
    for row in range(rows_at_once):
        place = (first + row).to(tl.int64) * width + at
        there = inside & (first + row < rows)
        value = tl.load(product + place, mask=there, other=0.0).to(tl.float32) + shift
        given = tl.load(slope + place, mask=there, other=0.0).to(tl.float32)
        if tanh:
            bent = 2 * tl.sigmoid(1.5957691216057308 * (value + 0.044715 * value * value * value)) - 1
            steep = 0.7978845608028654 * (1 + 0.134145 * value * value)
            given *= 0.5 * (1 + bent + value * (1 - bent * bent) * steep)
        else:
            density = 0.3989422804014327 * tl.exp(-0.5 * value * value)
            given *= 0.5 * (1 + tl.erf(0.7071067811865476 * value)) + value * density
        tl.store(slopes + place, given.to(tl.bfloat16), mask=there)
        total += given
    tl.store(sums + (part // columns).to(tl.int64) * width + at, total, mask=inside)


def compiled_slopes(slope: Tensor, product: Tensor, bias: Tensor, tanh: bool) -> tuple[Tensor, Tensor]:
    """Do `plain_slopes` of `pubmill.pretraining.biased_gelu` as one kernel and a sum of its partial sums; the
    first call compiles it. All tensors are in bfloat16."""
    (rows, width), slopes = product.shape, torch.empty_like(product)
    columns, parts = -(-width // BLOCK), -(-rows // ROWS)
    sums = product.new_empty((parts, width), dtype=torch.float32)
    tensors = (slope.contiguous(), product.contiguous(), bias, slopes, sums)
    constants = {"block": BLOCK, "rows_at_once": ROWS, "tanh": tanh}
    _differentiate_block[(parts * columns,)](*tensors, rows, width, columns, **constants)
    return slopes, sums.sum(0).to(bias.dtype)

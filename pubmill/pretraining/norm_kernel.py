"""Backward pass of LayerNorm after a residual connection as one kernel, compiled by Triton, which comes with
PyTorch's builds for GPUs only."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from pubmill.pretraining.seeded_dropout import FACTORS, threshold

ROWS = 64
"""Rows that a program of the kernel handles."""
COLUMNS_PER_WARP = 256
FIRST_FACTOR, SECOND_FACTOR = map(tl.constexpr, FACTORS)


@triton.jit
def _mix(numbers):  # type: ignore[no-untyped-def]
    numbers = (numbers ^ (numbers >> 16 & 0xFFFF)) * FIRST_FACTOR
    numbers = (numbers ^ (numbers >> 15 & 0x1FFFF)) * SECOND_FACTOR
    return numbers ^ (numbers >> 16 & 0xFFFF)


@triton.jit  # type: ignore[untyped-decorator]
def _differentiate_rows(  # type: ignore[no-untyped-def]
    first,
    second,
    summed,
    weight,
    seed,
    residual,
    product,
    sums,
    rows,
    width,
    epsilon,
    factor,
    block: tl.constexpr,
    rows_at_once: tl.constexpr,
    both: tl.constexpr,
    dropout: tl.constexpr,
    least: tl.constexpr,
):
    part = tl.program_id(0)
    at = tl.arange(0, block)
    inside = at < width
    gain = tl.load(weight + at, mask=inside, other=0.0).to(tl.float32)
    gains = tl.zeros((block,), dtype=tl.float32)
    shifts = tl.zeros((block,), dtype=tl.float32)
    biases = tl.zeros((block,), dtype=tl.float32)
    for number in range(rows_at_once):
        row = part * rows_at_once + number
        there = inside & (row < rows)
        place = row.to(tl.int64) * width + at
        values = tl.load(summed + place, mask=there, other=0.0).to(tl.float32)
        given = tl.load(first + place, mask=there, other=0.0).to(tl.float32)
        if both:
            given += tl.load(second + place, mask=there, other=0.0).to(tl.float32)
        values = tl.where(inside, values - tl.sum(values, 0) / width, 0.0)
        scale = 1 / tl.sqrt(tl.sum(values * values, 0) / width + epsilon)
        values *= scale
        gains += given * values
        shifts += given
        given *= gain
        found = (given - tl.sum(given, 0) / width - values * (tl.sum(given * values, 0) / width)) * scale
        tl.store(residual + place, found.to(tl.bfloat16), mask=there)
        if dropout:
            mixed = _mix(_mix((row * width + at) ^ tl.load(seed)) + tl.load(seed + 1))
            found = tl.where(mixed >= least, found * factor, 0.0)
            tl.store(product + place, found.to(tl.bfloat16), mask=there)
        biases += tl.where(there, found, 0.0)
    place = part.to(tl.int64) * 3 * width + at
    tl.store(sums + place, gains, mask=inside)
    tl.store(sums + place + width, shifts, mask=inside)
    tl.store(sums + place + 2 * width, biases, mask=inside)


def warps_of(block: int) -> int:
    """Return the warps of a program that handles so many columns."""
    return max(1, block // COLUMNS_PER_WARP)


def compiled_slopes(
    first: Tensor,
    second: Tensor | None,
    summed: Tensor,
    weight: Tensor,
    seed: Tensor,
    rate: float,
    epsilon: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Do `plain_slopes` of `pubmill.pretraining.residual_norm` as one kernel and a sum of its partial sums.

    The first call for each width compiles it. All numbers are in bfloat16.
    """
    (rows, width), residual = summed.shape, torch.empty_like(summed)
    product = torch.empty_like(summed) if rate else summed.new_empty(0)
    parts, block = -(-rows // ROWS), 1 << (width - 1).bit_length()
    sums = summed.new_empty((parts, 3, width), dtype=torch.float32)
    added = first if second is None else second
    tensors = (first.contiguous(), added.contiguous(), summed, weight, seed, residual, product, sums)
    _differentiate_rows[(parts,)](
        *tensors, rows, width, epsilon, 1 / (1 - rate), block=block, rows_at_once=ROWS,
        both=second is not None, dropout=rate > 0, least=threshold(rate),
        num_warps=warps_of(block),
    )  # fmt: skip
    gains, shifts, biases = sums.sum(0).to(weight.dtype).unbind()
    return residual, product, gains, shifts, biases

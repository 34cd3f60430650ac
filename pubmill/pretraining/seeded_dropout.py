"""Dropout whose mask is a function of a seed, for compiled layers on GPUs.

The backward pass computes the mask again, in the kernel that needs it, so that no mask is written to memory.
torch.compile would write the masks of PyTorch's dropout, and draw each number by ten rounds of Philox, whose
arithmetic takes longer than the rest of such a kernel.
"""

from typing import Any

import torch
from torch import Tensor

WORDS = 2
"""Random numbers (int32) in a seed."""
PASSES = 2
"""Copies of a seed: for the forward and the backward pass. With a common one, torch.compile may compute the
mask once and write it to memory."""
FACTORS = 0x7FEB352D, 0x846CA68B - 2**32
"""Odd factors of `mix`: "lowbias32" of Wellons' Hash Prospector, here as signed numbers."""


def draw_seeds(*shape: int, device: torch.device) -> Tensor:
    """Return random seeds (*shape, `PASSES`, `WORDS`), from PyTorch's generator of the device."""
    drawn = torch.randint(-(2**31), 2**31, (*shape, 1, WORDS), dtype=torch.int32, device=device)
    return drawn.expand(*shape, PASSES, WORDS).contiguous()


def mix(numbers: Tensor) -> Tensor:
    """Return a permutation of the int32 numbers, in which each bit depends on all bits of its number."""
    numbers = (numbers ^ (numbers >> 16 & 0xFFFF)) * FACTORS[0]
    numbers = (numbers ^ (numbers >> 15 & 0x1FFFF)) * FACTORS[1]
    return numbers ^ (numbers >> 16 & 0xFFFF)


def keep_mask(like: Tensor, rate: float, seed: Tensor) -> Tensor:
    """Return which elements of a tensor are kept, each with probability 1 - `rate`, by one copy of a seed;
    below 2^31 elements."""
    places = torch.arange(like.numel(), dtype=torch.int32, device=like.device).view(like.shape)
    return mix(mix(places ^ seed[0]) + seed[1]) >= threshold(rate)


def threshold(rate: float) -> int:
    """Return the least mixed number of an element that is kept."""
    return round(rate * 2**32) - 2**31


def drop(values: Tensor, rate: float, seed: Tensor) -> Tensor:
    """Return the values after dropout by one copy of a seed; unchanged if the rate is 0."""
    return values * keep_mask(values, rate, seed) / (1 - rate) if rate else values


class SeededDropout(torch.autograd.Function):
    """Dropout of `values` at a `rate` below 1 by a `seed` (`PASSES`, `WORDS`)."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, rate: float, seed: Tensor) -> Tensor:
        forward, backward = seed.unbind()
        ctx.save_for_backward(backward)
        ctx.rate = rate
        return drop(values, rate, forward)

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor, None, None]:
        (seed,) = ctx.saved_tensors
        return drop(slopes[0], ctx.rate, seed), None, None

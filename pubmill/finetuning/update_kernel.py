"""One update of a weight by Adam as one kernel, compiled by Triton.

It reads and writes each number once, of whatever type: 28 bytes of each weight with a gradient and a copy in
bfloat16, where PyTorch's kernels, which need a gradient in float32, move 44. Triton comes with PyTorch's
builds for GPUs only.
"""

import triton
import triton.language as tl
from torch import Tensor

from pubmill.finetuning.weight_updates import BETA1, BETA2, MULTIPLE

BLOCK = 1024


@triton.jit(do_not_specialize=["parts"])  # type: ignore[untyped-decorator]
def _update_block(  # type: ignore[no-untyped-def]
    gradient,
    weight,
    mean,
    square,
    copied,
    factors,
    scale,
    parts,
    part: tl.constexpr,
    block: tl.constexpr,
    beta1: tl.constexpr,
    beta2: tl.constexpr,
):
    at = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    # The compiler sees that the end is a multiple of 16, as 16 bytes at once are loaded only then.
    inside = at < parts * part
    slope = tl.load(gradient + at, mask=inside, other=0.0).to(tl.float32) / tl.load(scale)
    first = tl.load(mean + at, mask=inside, other=0.0)
    second = tl.load(square + at, mask=inside, other=0.0)
    value = tl.load(weight + at, mask=inside, other=0.0)
    first += (1 - beta1) * (slope - first)
    second = beta2 * second + (1 - beta2) * slope * slope
    value -= tl.load(factors + 1) * value
    value -= tl.load(factors + 2) * first / (tl.sqrt(second) / tl.load(factors + 3) + tl.load(factors + 4))
    tl.store(mean + at, first, mask=inside)
    tl.store(square + at, second, mask=inside)
    tl.store(weight + at, value, mask=inside)
    tl.store(copied + at, value.to(tl.bfloat16), mask=inside)


def compiled_update(gradient: Tensor, weight: Tensor, *others: Tensor) -> None:
    """Do `plain_update` as one kernel, for sizes that are multiples of `MULTIPLE`. It is compiled at the
    first call for each type of gradient, but not again for other sizes."""
    size = weight.numel()
    constants = {"part": MULTIPLE, "block": BLOCK, "beta1": BETA1, "beta2": BETA2}
    _update_block[(-(-size // BLOCK),)](gradient, weight, *others, size // MULTIPLE, **constants)

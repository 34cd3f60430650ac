"""What follows attention in a layer, with a backward pass of its own: kernels of ours and matrix products.

For layers in which LayerNorm follows each residual connection (all but Megatron's).
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from pubmill.pretraining.biased_gelu import gelu_slopes
from pubmill.pretraining.residual_norm import NormSlopes, norm_slopes
from pubmill.pretraining.seeded_dropout import drop


class FusedLayer(torch.autograd.Function):
    """A layer's output from attention's (`context`) and the layer's input (`hidden`).

    `seeds` (2, `PASSES`, `WORDS`) and `rates`: of the two dropouts; `gelu`: its kind. `weights`: weight and
    bias of the product after attention, LayerNorm, the two products of the feed-forward network, LayerNorm.
    """

    @staticmethod
    def forward(
        ctx: Any,
        context: Tensor,
        hidden: Tensor,
        seeds: Tensor,
        rates: tuple[float, float],
        epsilon: float,
        gelu: str,
        *weights: Tensor,
    ) -> Tensor:
        after, after_bias, gain, shift, inner, inner_bias, outer, outer_bias, last_gain, last_shift = weights
        first, second = seeds.unbind()
        summed = hidden + drop(F.linear(context, after) + after_bias, rates[0], first[0])
        normed = F.layer_norm(summed, summed.shape[-1:], gain, shift, epsilon)
        product = F.linear(normed, inner)
        between = F.gelu(product + inner_bias, approximate=gelu)
        total = normed + drop(F.linear(between, outer) + outer_bias, rates[1], second[0])
        kept = context, summed, normed, product, between, total
        ctx.save_for_backward(*kept, first[1], second[1], after, gain, inner, inner_bias, outer, last_gain)
        ctx.numbers = rates, epsilon, gelu
        return F.layer_norm(total, total.shape[-1:], last_gain, last_shift, epsilon)

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor | None, ...]:
        context, summed, normed, product, between, total, *others = ctx.saved_tensors
        first, second, after, gain, inner, inner_bias, outer, last_gain = others
        rates, epsilon, gelu = ctx.numbers
        last = NormSlopes(*norm_slopes(slopes[0], None, total, last_gain, second, rates[1], epsilon))
        down = last.product if rates[1] else last.residual
        between_slope, inner_sums = gelu_slopes(down @ outer, product, inner_bias, gelu)
        below = between_slope @ inner
        mid = NormSlopes(*norm_slopes(below, last.residual, summed, gain, first, rates[0], epsilon))
        up = mid.product if rates[0] else mid.residual
        return (
            *(up @ after, mid.residual, None, None, None, None),
            *(up.t() @ context, mid.bias, mid.weight, mid.shift, between_slope.t() @ normed, inner_sums),
            *(down.t() @ between, last.bias, last.weight, last.shift),
        )

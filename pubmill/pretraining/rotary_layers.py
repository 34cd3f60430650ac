"""Forward pass of ModernBERT: rotary positions, windows in most layers, gated linear units.

The results equal those of transformers' class except for rounding (a test compares them). On a CPU, attention
within a window is computed by blocks of its half, so its cost grows with the length, not with its square;
global attention uses plain matrix products, and torch's fused kernel where the products would be large. A
sequence may be causal: each position sees itself and those before it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from pubmill.pretraining.unpadded import Mask, SequenceBounds, compiled, flash_attention

HIDDEN_KEY = -1e30
"""Added to scores of keys that a query does not see; finite, because a padding query may see none."""
BLOCKS_FROM, FUSED_FROM = 384, 1024
"""Lengths from which local attention is computed by blocks, and global attention by the fused kernel."""
LOCAL = "sliding_attention"
Attend = Callable[[Tensor], Tensor]
Turn = Callable[..., tuple[Tensor, Tensor, Tensor]]


@dataclass(frozen=True)
class Sight:
    """Keys that queries see: `half` positions to each side (None: all), of a padded batch those of `mask`
    (batch, length), and none after themselves in sequences that are `causal` (batch,)."""

    half: int | None
    mask: Tensor | None
    causal: Tensor | None


def encode_rotary(
    base: Any, hidden: Tensor, mask: Mask, rows: Tensor | None, recompute: bool, causal: Tensor | None
) -> Tensor:
    """Return the encoder's output vectors as `pubmill.pretraining.forward.encode` does."""
    flat = isinstance(mask, SequenceBounds)
    fast = isinstance(mask, SequenceBounds) and mask.compiled
    kinds = set(base.config.layer_types)
    attends = {kind: _attention(base, kind, hidden, mask, causal) for kind in kinds}
    hidden = hidden.squeeze(0) if flat else hidden
    compute = partial(checkpoint, _compute_layer, use_reentrant=False) if recompute else _compute_layer
    for number, layer in enumerate(base.layers):
        wanted = rows if number == len(base.layers) - 1 else None
        # Tensors, not modules: in the backward pass, the modules have their float32 weights again.
        dropped = getattr(layer.attn.out_drop, "p", 0.0) if layer.training else 0.0
        numbers = Numbers(dropped, base.config.norm_eps)
        hidden = compute(hidden, weights_of(layer), attends[layer.attention_type], wanted, numbers, fast)
    normed: Tensor = base.final_norm(hidden)
    return normed.unsqueeze(0) if flat and rows is None else normed


class Numbers(NamedTuple):
    """Dropout after attention, and epsilon of LayerNorm."""

    dropout: float
    epsilon: float


def weights_of(layer: Any) -> list[Tensor | None]:
    """Return a layer's six weights in order of use; the first layer has no LayerNorm before attention."""
    first = getattr(layer.attn_norm, "weight", None)
    after = layer.attn.Wo.weight, layer.mlp_norm.weight, layer.mlp.Wi.weight, layer.mlp.Wo.weight
    return [first, layer.attn.Wqkv.weight, *after]


def _compute_layer(
    hidden: Tensor,
    weights: list[Any],
    attend: Attend,
    rows: Tensor | None,
    numbers: Numbers,
    fast: bool,
) -> Tensor:
    before = compiled(before_attention) if fast else before_attention
    context = attend(before(hidden, weights[:2], numbers.epsilon))
    if rows is None:
        after = compiled(after_attention) if fast else after_attention
        return after(context, hidden, weights[2:], numbers)
    size = hidden.shape[-1]
    some, others = context.reshape(-1, size)[rows], hidden.reshape(-1, size)[rows]
    return after_attention(some, others, weights[2:], numbers)


def before_attention(hidden: Tensor, weights: list[Any], epsilon: float) -> Tensor:
    """Return query, key and value as one tensor (..., 3 x hidden size)."""
    norm, projection = weights
    normed = hidden if norm is None else F.layer_norm(hidden, norm.shape, norm, None, epsilon)
    return F.linear(normed, projection)


def after_attention(context: Tensor, hidden: Tensor, weights: list[Any], numbers: Numbers) -> Tensor:
    """Return a layer's output: projection, residual connection, LayerNorm, gated unit, residual."""
    projection, norm, inner, outer = weights
    hidden = hidden + F.dropout(F.linear(context, projection), numbers.dropout)
    normed = F.layer_norm(hidden, norm.shape, norm, None, numbers.epsilon)
    value, gate = F.linear(normed, inner).chunk(2, -1)
    return hidden + F.linear(F.gelu(value) * gate, outer)


def turn(product: Tensor, angles: Tensor, heads: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return query, key and value (tokens, heads, head size) of one product (tokens, 3 x hidden size); query
    and key are turned by the angles of their positions."""
    query, key, value = product.view(len(product), 3, heads, -1).unbind(1)
    cosines, sines = angles.to(product.dtype)[:, :, None].unbind()
    return rotate(query, cosines, sines), rotate(key, cosines, sines), value


def _attention(base: Any, kind: str, hidden: Tensor, mask: Mask, causal: Tensor | None) -> Attend:
    """Return the attention of layers of a kind: from query, key and value as one tensor to the context."""
    heads, frequencies = base.config.num_attention_heads, getattr(base.rotary_emb, f"{kind}_inv_freq")
    half = base.config.sliding_window if kind == LOCAL else None
    if isinstance(mask, SequenceBounds):
        tokens = torch.arange(hidden.shape[1], device=hidden.device, dtype=torch.int32)
        starts = mask.bounds[torch.searchsorted(mask.bounds, tokens, right=True) - 1]
        rotation = compiled(turn) if mask.compiled else turn
        turned = partial(rotation, angles=angles(tokens - starts, frequencies), heads=heads)
        return partial(_attend_flat, turned=turned, half=half, sequences=mask)
    places = torch.arange(hidden.shape[1], device=hidden.device)
    sight = Sight(half, mask, causal)
    return partial(_attend_padded, angles=angles(places, frequencies), heads=heads, sight=sight)


def angles(places: Tensor, frequencies: Tensor) -> Tensor:
    """Return cosines and sines (2, positions, head size / 2) in float32, as transformers computes them."""
    turned = places[:, None].float() * frequencies.float()
    return torch.stack([turned.cos(), turned.sin()])


def rotate(part: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """Return vectors turned by the angles of their positions; a vector's two halves are the coordinates."""
    left, right = part.chunk(2, -1)
    return torch.cat([left * cosines - right * sines, right * cosines + left * sines], -1)


def _attend_flat(product: Tensor, turned: Turn, half: int | None, sequences: SequenceBounds) -> Tensor:
    """Return attention within each sequence. The first sequences may be causal: they are computed apart."""
    query, key, value = turned(product)
    (count, tokens), bounds = sequences.causal, sequences.bounds
    outputs = list[Tensor]()
    for causal, part, ends in (
        (True, slice(None, tokens), bounds[: count + 1]),
        (False, slice(tokens, None), bounds[count:] - tokens),
    ):
        if len(ends) > 1:
            some = SequenceBounds(ends, sequences.longest)
            outputs.append(flash_attention(query[part], key[part], value[part], some, 0.0, half, causal))
    return (outputs[0] if len(outputs) == 1 else torch.cat(outputs)).flatten(1)


def _attend_padded(product: Tensor, angles: Tensor, heads: int, sight: Sight) -> Tensor:
    query, key, value = SplitAndRotate.apply(product, angles.to(product.dtype), heads)  # type: ignore[no-untyped-call]
    length = product.shape[1]
    if sight.half and length >= max(BLOCKS_FROM, 3 * sight.half):
        context = _attend_by_blocks(query, key, value, sight, sight.half)
    elif length >= FUSED_FROM:
        context = F.scaled_dot_product_attention(query, key, value, _bias(sight, query), scale=1.0)
    else:
        scores = query @ key.transpose(-1, -2)
        bias = _bias(sight, query)
        context = (scores if bias is None else scores.add_(bias)).softmax(-1).to(value.dtype) @ value
    return context.transpose(1, 2).flatten(2)


class SplitAndRotate(torch.autograd.Function):
    """Query, key and value (batch, heads, length, head size) of one product (batch, length, 3 x hidden size).
    Query and key are turned by the `angles` of their positions, and the query is divided by the root of the
    head size, in the one pass over memory that changes the order of the dimensions."""

    @staticmethod
    def forward(ctx: Any, product: Tensor, angles: Tensor, heads: int) -> tuple[Tensor, ...]:
        parts = product.view(*product.shape[:2], 3, heads, -1).permute(2, 0, 3, 1, 4)
        ctx.save_for_backward(angles)
        ctx.heads = heads
        made = torch.empty(parts.shape, dtype=product.dtype, device=product.device)
        scale = parts.shape[-1] ** -0.5
        _rotate_into(made[0], parts[0], *(angles * scale))
        _rotate_into(made[1], parts[1], *angles)
        made[2].copy_(parts[2])
        query, key, value = made.unbind()
        return query, key, value

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor, None, None]:
        (angles,) = ctx.saved_tensors
        batch, heads, length, size = slopes[0].shape
        made = slopes[0].new_empty(batch, length, 3, heads, size)
        parts = made.permute(2, 0, 3, 1, 4)
        cosines, sines = angles
        scale = size**-0.5
        _rotate_into(parts[0], slopes[0], cosines * scale, -sines * scale)
        _rotate_into(parts[1], slopes[1], cosines, -sines)
        parts[2].copy_(slopes[2])
        return made.flatten(2), None, None


def _rotate_into(target: Tensor, part: Tensor, cosines: Tensor, sines: Tensor) -> None:
    left, right = part.chunk(2, -1)
    first, second = target.chunk(2, -1)
    torch.mul(left, cosines, out=first).addcmul_(right, sines, value=-1)
    torch.mul(right, cosines, out=second).addcmul_(left, sines)


def _bias(sight: Sight, query: Tensor) -> Tensor | None:
    """Return what is added to scores, to be broadcast to (batch, heads, length, length); None if every query
    sees every key."""
    length, device = query.shape[2], query.device
    places = torch.arange(length, device=device)
    ahead = places[None, :] - places[:, None]
    seen = None if sight.mask is None else sight.mask[:, None, None, :]
    if sight.half and length > sight.half + 1:
        near = ahead.abs() <= sight.half
        seen = near[None, None] if seen is None else seen & near
    if sight.causal is not None:
        past = (ahead <= 0)[None, None] | ~sight.causal[:, None, None, None]
        seen = past if seen is None else seen & past
    return None if seen is None else _hide(seen, query)


def _hide(seen: Tensor, like: Tensor) -> Tensor:
    return torch.zeros(seen.shape, dtype=like.dtype, device=like.device).masked_fill_(~seen, HIDDEN_KEY)


def _attend_by_blocks(query: Tensor, key: Tensor, value: Tensor, sight: Sight, half: int) -> Tensor:
    """Return local attention: queries of a block of `half` positions see keys of it and the two beside it."""
    length = query.shape[2]
    blocks = -(-length // half)
    rest = blocks * half - length
    queries = F.pad(query, (0, 0, 0, rest)).view(*query.shape[:2], blocks, half, -1)
    keys, values = (_neighbours(F.pad(part, (0, 0, half, half + rest)), half) for part in (key, value))
    scores = queries @ keys.transpose(-1, -2)
    weights = scores.add_(_block_bias(sight, query, half)).softmax(-1).to(value.dtype)
    context: Tensor = weights @ values
    return context.flatten(2, 3)[:, :, :length]


def _neighbours(part: Tensor, half: int) -> Tensor:
    """Return each block between its neighbours: (batch, heads, blocks, 3 x half, head size)."""
    blocks = part.view(*part.shape[:2], -1, half, part.shape[-1])
    return torch.cat([blocks[:, :, :-2], blocks[:, :, 1:-1], blocks[:, :, 2:]], 3)


def _block_bias(sight: Sight, query: Tensor, half: int) -> Tensor:
    """Return what is added to the scores of blocks: (1 or batch, 1, blocks, half, 3 x half)."""
    length, device = query.shape[2], query.device
    blocks = -(-length // half)
    asked = torch.arange(half, device=device)
    offset = torch.arange(-half, 2 * half, device=device)
    ahead = offset[None, :] - asked[:, None]
    places = torch.arange(blocks, device=device)[:, None] * half + offset
    there = (places >= 0) & (places < length)
    seen = there[None, None, :, None, :] & (ahead.abs() <= half)
    if sight.mask is not None:
        present = sight.mask[:, places.clamp(0, length - 1)]
        seen = seen & present[:, None, :, None, :]
    if sight.causal is not None:
        seen = seen & ((ahead <= 0) | ~sight.causal[:, None, None, None, None])
    return _hide(seen, query)

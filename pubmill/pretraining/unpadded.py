"""Forward pass over concatenated sequences without padding, for GPUs.

What follows attention in a layer is a function of tensors, which torch.compile can fuse. Its inputs have the
same shapes in every layer and micro-batch, so it is compiled once. Query, key and value are one matrix
product. Attention is PyTorch's flash kernel for sequences of several lengths, with dropout
(`torch.nn.attention.varlen`, which calls the same kernel, has no dropout). The results equal those of
`pubmill.pretraining.forward` except for rounding (tests compare them).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple, TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.checkpoint import checkpoint

WORDS = 2
"""Random numbers (int32) in a seed."""
PASSES = 2
"""Copies of a seed: for the forward and the backward pass. With a common one, torch.compile may compute the
mask once and write it to memory."""
FACTORS = 0x7FEB352D, 0x846CA68B - 2**32
"""Odd factors of `mix`: "lowbias32" of Wellons' Hash Prospector, here as signed numbers."""
GELU = {"gelu": "none", "gelu_new": "tanh"}
"""Activations of transformers' configurations -> the kind of torch's GELU, which is one kernel."""
Function = TypeVar("Function", bound=Callable[..., Any])


@cache
def _compile(function: Callable[..., Any], dynamic: bool) -> Any:
    return torch.compile(function, fullgraph=True, dynamic=dynamic)


def compiled(function: Function, dynamic: bool = False) -> Function:
    """Return a function compiled once: for inputs of fixed shapes, or for any shapes (`dynamic`)."""
    made: Function = _compile(function, dynamic)
    return made


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
    """Return which elements (below 2^31) are kept by one copy of a seed, each with probability 1 - `rate`."""
    places = torch.arange(like.numel(), dtype=torch.int32, device=like.device).view(like.shape)
    return mix(mix(places ^ seed[0]) + seed[1]) >= threshold(rate)


def threshold(rate: float) -> int:
    """Return the smallest result of `mix` with which an element is kept."""
    return round(rate * 2**32) - 2**31


def drop(values: Tensor, rate: float, seed: Tensor) -> Tensor:
    """Return the values after dropout by one copy of a seed; unchanged if the rate is 0."""
    return values * keep_mask(values, rate, seed) / (1 - rate) if rate else values


class SeededDropout(torch.autograd.Function):
    """Dropout of `values` at a `rate` below 1, whose mask is a function of a `seed` (`PASSES`, `WORDS`). The
    backward pass computes the mask again, in the kernel that needs it, so that no mask is written to memory.
    torch.compile would write the masks of PyTorch's dropout, and draw each number by ten rounds of Philox,
    whose arithmetic takes longer than the rest of such a kernel."""

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


@dataclass(frozen=True)
class SequenceBounds:
    """Bounds of concatenated sequences. `bounds`: (sequences + 1,) int32, the first position of each sequence
    and the end; `longest`: the most tokens that a sequence may have. `compiled`: whether layers, embeddings
    and loss are. `causal`: numbers of sequences read left to right (the first) and of their tokens."""

    bounds: Tensor
    longest: int
    compiled: bool = False
    causal: tuple[int, int] = (0, 0)


Mask = Tensor | SequenceBounds | None
"""Tokens of a padded batch (batch, length), true at tokens; None without padding; or sequences' bounds."""


class Settings(NamedTuple):
    """A layer's heads, dropout after attention and feed-forward part, LayerNorm's epsilon, kind of GELU."""

    heads: int
    first_dropout: float
    second_dropout: float
    epsilon: float
    gelu: str


def encode_unpadded(
    base: Any, hidden: Tensor, sequences: SequenceBounds, rows: Tensor | None, recompute: bool
) -> Tensor:
    """Return the encoder's output vectors (len(rows), hidden_size), or of all positions (1, tokens,
    hidden_size). `hidden`: (1, tokens, hidden_size), the projected embeddings. Megatron's last LayerNorm is
    not included."""
    hidden, kind = hidden.squeeze(0), base.config.model_type
    layers = layers_of(base)
    repeated = len(set(map(id, layers))) < len(layers)
    # Compiled functions draw no random numbers themselves.
    drops = sequences.compiled and any(settings_of(base, layer)[0].first_dropout for layer in layers)
    seeds = draw_seeds(len(layers), 2, device=hidden.device) if drops else [None] * len(layers)
    compute = partial(checkpoint, _compute_layer, use_reentrant=False) if recompute else _compute_layer
    for number, (layer, seed) in enumerate(zip(layers, seeds, strict=True)):
        wanted = rows if number == len(layers) - 1 else None
        # Tensors, not modules: in the backward pass, the modules have their float32 weights again.
        weights, settings = weights_of(layer, kind), settings_of(base, layer)
        if repeated:
            weights = [use_once(weight) for weight in weights[0]], [use_once(weight) for weight in weights[1]]
        hidden = compute(hidden, sequences, wanted, *weights, seed, settings)
    return hidden if rows is not None else hidden.unsqueeze(0)


def layers_of(base: Any) -> list[Any]:
    """Return the layers in order; ALBERT repeats one layer."""
    if base.config.model_type != "albert":
        return list(base.encoder.layer)
    groups, count = base.encoder.albert_layer_groups, base.config.num_hidden_layers
    return [layer for n in range(count) for layer in groups[n * len(groups) // count].albert_layers]


class SharedWeight(torch.autograd.Function):
    """One of several uses of a weight's copy in bfloat16; its gradient is added to that of the weight, in
    float32, while autograd would add the gradients of all uses in bfloat16."""

    @staticmethod
    def forward(ctx: Any, copied: Tensor, weight: Tensor) -> Tensor:
        ctx.weight = weight
        return copied.view_as(copied)

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[None, None]:
        add_gradient(ctx.weight, slopes[0])
        return None, None


def use_once(tensor: Tensor) -> Tensor:
    """Return a weight for one layer of several that share it."""
    weight: Tensor | None = getattr(tensor, "float32", None)
    return tensor if weight is None else SharedWeight.apply(tensor, weight)  # type: ignore[no-untyped-call]


def add_gradient(weight: Tensor, slope: Tensor) -> None:
    """Add a gradient in bfloat16 to that of a weight in float32."""
    weight.grad = slope.float() if weight.grad is None else weight.grad.add_(slope)


def settings_of(base: Any, layer: Any) -> tuple[Settings, float]:
    """Return the numbers of a layer, and the dropout of its attention weights."""
    config = base.config
    hidden = config.hidden_dropout_prob if layer.training else 0.0
    attention = config.attention_probs_dropout_prob if layer.training else 0.0
    second = 0.0 if config.model_type == "albert" else hidden
    numbers = config.num_attention_heads, hidden, second, config.layer_norm_eps
    return Settings(*numbers, GELU[config.hidden_act]), attention


def weights_of(layer: Any, kind: str) -> tuple[list[Tensor], list[Tensor]]:
    """Return the weights before attention (those of query, key and value, their biases, and LayerNorm's if it
    comes first) and after it (weight and bias of each of four or five modules, in order of use)."""
    part = layer.attention if kind == "albert" else layer.attention.self
    after: tuple[Any, ...]
    if kind == "albert":
        after = part.dense, part.LayerNorm, layer.ffn, layer.ffn_output, layer.full_layer_layer_norm
    else:
        output, inner, outer = layer.attention.output, layer.intermediate.dense, layer.output.dense
        first, *last = (layer.ln,) if kind == "megatron-bert" else (output.LayerNorm, layer.output.LayerNorm)
        after = output.dense, first, inner, outer, *last
    three = part.query, part.key, part.value
    before = [module.weight for module in three] + [module.bias for module in three]
    if kind == "megatron-bert":
        before += [layer.attention.ln.weight, layer.attention.ln.bias]
    return before, [tensor for module in after for tensor in (module.weight, module.bias)]


def _compute_layer(
    hidden: Tensor,
    sequences: SequenceBounds,
    rows: Tensor | None,
    before: list[Tensor],
    after: list[Tensor],
    seeds: Tensor | None,
    settings: tuple[Settings, float],
) -> Tensor:
    numbers, dropout = settings
    project, norm = before[:6], before[6:]
    if norm:
        normed = F.layer_norm(hidden, hidden.shape[-1:], norm[0], norm[1], numbers.epsilon)
        *three, _ = Projection.apply(normed, *project)  # type: ignore[no-untyped-call]
    else:
        *three, hidden = Projection.apply(hidden, *project)  # type: ignore[no-untyped-call]
    query, key, value = (part.unflatten(-1, (numbers.heads, -1)) for part in three)
    context = flash_attention(query, key, value, sequences, dropout).flatten(1)
    if rows is not None:
        context, hidden = context[rows], hidden[rows]
    if not sequences.compiled:
        return after_attention(context, hidden, after, seeds, numbers)
    if rows is None:
        return compiled(after_attention)(context, hidden, after, seeds, numbers)
    # Only this number: with `dynamic=True`, dropout and epsilon would be variables too.
    for tensor in (context, hidden):
        torch._dynamo.maybe_mark_dynamic(tensor, 0)
    return compiled(after_attention_at_rows)(context, hidden, after, seeds, numbers)


def flash_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    sequences: SequenceBounds,
    dropout: float = 0.0,
    half: int | None = None,
    causal: bool = False,
) -> Tensor:
    """Return attention within each sequence by PyTorch's flash kernel; all tensors are (tokens, heads, head
    size). `half`: positions that are seen on each side (None: all), of `causal` sequences only before."""
    bounds, longest, side = sequences.bounds, sequences.longest, -1 if half is None else half
    given = query, key, value, bounds, bounds, longest, longest, dropout, causal, False
    window = {"window_size_left": side, "window_size_right": 0 if causal else side}
    attended: Tensor = torch.ops.aten._flash_attention_forward(*given, **window)[0]
    return attended


class Projection(torch.autograd.Function):
    """Query, key and value (each (tokens, hidden size)) by one matrix product, and the input again for the
    residual connection. Matrix products of the backward pass add their results to the residual's gradient.
    The keys' bias has no effect on attention: its gradient is 0, not what rounding would make of it."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, *weights: Tensor) -> tuple[Tensor, ...]:
        ctx.save_for_backward(hidden, *weights[:3])
        product = F.linear(hidden, torch.cat(weights[:3]), torch.cat(weights[3:]))
        return *product.chunk(3, -1), hidden.view_as(hidden)

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor, ...]:
        hidden, *weights = ctx.saved_tensors
        # Nothing else has the residual's gradient, which the previous operation has just computed.
        *three, total = slopes
        for slope, weight in zip(three, weights, strict=True):
            total.addmm_(slope, weight)
        # A number that is added to all keys changes all weights of a query alike, and softmax ignores it.
        biases = three[0].sum(0), three[1].new_zeros(three[1].shape[1]), three[2].sum(0)
        return total, *(slope.t() @ hidden for slope in three), *biases


def after_attention(
    context: Tensor, hidden: Tensor, weights: list[Tensor], seeds: Tensor | None, settings: Settings
) -> Tensor:
    """Return a layer's output; with five modules LayerNorm follows each addition, with four it precedes the
    feed-forward network (Megatron). `seeds`: of the two dropouts; None: PyTorch's dropout."""
    first, second = (None, None) if seeds is None else seeds.unbind()
    attended = _dropout(F.linear(context, *weights[:2]), settings.first_dropout, first)
    attended, size = hidden + attended, hidden.shape[-1:]
    normed = F.layer_norm(attended, size, weights[2], weights[3], settings.epsilon)
    between = F.gelu(F.linear(normed, *weights[4:6]), approximate=settings.gelu)
    output = _dropout(F.linear(between, *weights[6:8]), settings.second_dropout, second)
    if len(weights) == 8:
        return attended + output
    return F.layer_norm(normed + output, size, weights[8], weights[9], settings.epsilon)


def _dropout(values: Tensor, rate: float, seed: Tensor | None) -> Tensor:
    if seed is None or not 0 < rate < 1:
        return F.dropout(values, rate)
    return SeededDropout.apply(values, rate, seed)  # type: ignore[no-untyped-call,no-any-return]


def after_attention_at_rows(
    context: Tensor, hidden: Tensor, weights: list[Tensor], seeds: Tensor | None, settings: Settings
) -> Tensor:
    """Return the last layer's output at some positions, whose number varies: it is compiled on its own."""
    return after_attention(context, hidden, weights, seeds, settings)


def norm_embeddings(
    words: Tensor, others: list[Tensor], norm: list[Tensor], seed: Tensor | None, numbers: tuple[float, float]
) -> Tensor:
    """Return the sum of embeddings after LayerNorm and dropout; `numbers`: rate and epsilon."""
    (rate, epsilon), (weight, bias) = numbers, norm
    summed = sum(others, words)
    return _dropout(F.layer_norm(summed, summed.shape[-1:], weight, bias, epsilon), rate, seed)


def embed_compiled(embeddings: Any, ids: Tensor, segments: Tensor, positions: Tensor) -> Tensor:
    """Compute the embedding module of transformers: sum of embeddings, LayerNorm, dropout."""
    norm, rate = embeddings.LayerNorm, embeddings.dropout.p if embeddings.training else 0.0
    others = [embeddings.token_type_embeddings(segments), embeddings.position_embeddings(positions)]
    given = embeddings.word_embeddings(ids), others, [norm.weight, norm.bias]
    seed = draw_seeds(device=ids.device) if rate else None
    return compiled(norm_embeddings)(*given, seed, (rate, norm.eps))

"""Attention within blocks of inputs, which an encoder otherwise reads as one sequence.

A block has inputs of similar lengths, so a batch of several blocks has little padding. Only attention knows
of blocks: all other work on a batch is done at once, in few and large products of matrices.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

if TYPE_CHECKING:
    from transformers import PreTrainedModel

NAME = "blocks"
"""Name of this attention among those of transformers."""
TYPES = ("albert", "bert", "camembert", "distilbert", "electra", "roberta", "xlm-roberta")
"""Types of encoders in which a token sees all others, only through attention, and its place by
`position_ids`. On a GPU, transformers gives them fused attention."""


@dataclass(frozen=True, slots=True)
class Block:
    """`inputs` of one padded `width`; `mask` (inputs x 1 x width): what is added to scores; None: nothing."""

    inputs: int
    width: int
    mask: Tensor | None


def block_of(mask: Tensor) -> Block:
    """Return the block whose inputs have this mask (inputs x width, 1 for tokens)."""
    padding = mask == 0
    added = torch.zeros(mask.shape).masked_fill_(padding, -torch.inf)[:, None]
    inputs, width = mask.shape
    return Block(inputs, width, added if padding.any() else None)


def sees_all_tokens(encoder: "PreTrainedModel") -> bool:
    """Return whether an encoder is of one of the `TYPES`, and no decoder."""
    return encoder.config.model_type in TYPES and not getattr(encoder.config, "is_decoder", False)


def use_blocks(encoder: "PreTrainedModel") -> None:
    """Let an encoder attend in blocks if it can; without blocks it attends as with transformers' `eager`."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import eager_mask

    able = sees_all_tokens(encoder)
    if able:
        AttentionInterface.register(NAME, attend)
        AttentionMaskInterface.register(NAME, eager_mask)
    encoder.set_attn_implementation(NAME if able else "eager")
    encoder.attends_in_blocks = able  # type: ignore[assignment]  # of ours; copies of the encoder have it too


def uses_blocks(encoder: "PreTrainedModel") -> bool:
    return bool(getattr(encoder, "attends_in_blocks", False))


def attend(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    blocks: Sequence[Block] | None = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """Return the means of values, inputs x tokens x heads x size; all arguments are inputs x heads x tokens x
    size. With `blocks`, there is one input, in which each block's inputs follow one another."""
    scaling = query.shape[-1] ** -0.5 if scaling is None else scaling

    def means(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        scores = query @ key.transpose(-1, -2) * scaling
        weights = (scores if mask is None else scores + mask).softmax(-1)
        return torch.nn.functional.dropout(weights, dropout, module.training) @ value

    if blocks is None:
        return means(query, key, value, attention_mask).transpose(1, 2).contiguous(), None
    sizes = [block.inputs * block.width for block in blocks]
    parts = zip(*(torch.split(tensor[0], sizes, 1) for tensor in (query, key, value)), strict=True)
    found = []
    for block, tensors in zip(blocks, parts, strict=True):
        queries, keys, values = (tensor.unflatten(1, (block.inputs, block.width)) for tensor in tensors)
        found.append(means(queries, keys, values, block.mask).permute(1, 2, 0, 3).flatten(0, 1))
    return torch.cat(found)[None], None

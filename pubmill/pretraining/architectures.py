"""The networks that are pretrained: an encoder with the heads its objective needs, and its forward pass.

The modules and the names of their weights are those of transformers, so that what is saved loads there.
The forward pass is our own for the sake of speed, and equals that of transformers (a test compares them):
the last layer is worked out only at the positions that are asked for, and the attention on a CPU is by plain
matrix products (at 128 tokens in bfloat16 the whole step is 1.5 times faster than with torch's fused kernel).
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import BertConfig, BertForMaskedLM, BertForPreTraining

from pubmill.errors import PubmillError
from pubmill.recipes import Architecture, Objective

PretrainingModel = BertForPreTraining | BertForMaskedLM


def bert_config(architecture: Architecture, vocab_size: int, pad_id: int) -> BertConfig:
    """The configuration of a BERT of this shape over `vocab_size` ids (Devlin et al. 2019)."""
    if architecture.hidden_size % architecture.attention_heads:
        raise PubmillError(
            f"architecture: hidden_size {architecture.hidden_size} is not a multiple of "
            f"attention_heads {architecture.attention_heads}"
        )
    return BertConfig(
        vocab_size=vocab_size,
        hidden_size=architecture.hidden_size,
        num_hidden_layers=architecture.layers,
        num_attention_heads=architecture.attention_heads,
        intermediate_size=architecture.intermediate_size,
        max_position_embeddings=architecture.max_positions,
        hidden_dropout_prob=architecture.dropout,
        attention_probs_dropout_prob=architecture.dropout,
        pad_token_id=pad_id,
    )


def model_class(objective: Objective) -> type[PretrainingModel]:
    """The class of transformers that has the heads of this objective."""
    return BertForPreTraining if objective.next_sentence else BertForMaskedLM


def build_model(
    architecture: Architecture, objective: Objective, vocab_size: int, pad_id: int, seed: int
) -> PretrainingModel:
    """A freshly initialised model in float32, the same for the same arguments.

    With next-sentence prediction it is a `BertForPreTraining`, without it a `BertForMaskedLM`; both are read
    back by `AutoModel` and `AutoModelForMaskedLM`. The caller's random state is left as it was.
    """
    made = model_class(objective)
    config = bert_config(architecture, vocab_size, pad_id)
    config.architectures = [made.__name__]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return made(config)


def encode(model: Any, ids: Tensor, segments: Tensor, mask: Tensor | None, rows: Tensor) -> Tensor:
    """Return the encoder's output vectors (len(rows), hidden_size) at some positions of a batch.

    `ids` and `segments` are (batch, length); `mask` is of the same shape and true where there is a token, or
    None where there is no padding at all; `rows` are positions in the flattened batch. The other positions of
    the last layer are never worked out: only 15 % of them carry a loss.
    """
    hidden = model.bert.embeddings(input_ids=ids, token_type_ids=segments)
    *lower, last = model.bert.encoder.layer
    for layer in lower:
        hidden = _transform(layer, _attend(layer, hidden, mask), hidden)
    context = _attend(last, hidden, mask)
    return _transform(last, context.flatten(0, 1)[rows], hidden.flatten(0, 1)[rows])


def _transform(layer: Any, context: Tensor, hidden: Tensor) -> Tensor:
    attended = layer.attention.output(context, hidden)
    output: Tensor = layer.output(layer.intermediate(attended), attended)
    return output


def _attend(layer: Any, hidden: Tensor, mask: Tensor | None) -> Tensor:
    module = layer.attention.self
    heads = (*hidden.shape[:2], module.num_attention_heads, -1)
    query, key, value = (
        project(hidden).view(heads).transpose(1, 2) for project in (module.query, module.key, module.value)
    )
    dropout = module.dropout.p if layer.training else 0.0
    wide = None if mask is None else mask[:, None, None, :]
    attention = F.scaled_dot_product_attention if hidden.is_cuda else plain_attention
    return attention(query, key, value, wide, dropout).transpose(1, 2).flatten(2)


def plain_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout: float) -> Tensor:
    """Scaled dot-product attention by matrix products; shapes (batch, heads, length, size of a head)."""
    scores = (query * query.shape[-1] ** -0.5) @ key.transpose(-1, -2)
    if mask is not None:
        scores = scores + torch.zeros_like(mask, dtype=scores.dtype).masked_fill(~mask, float("-inf"))
    weights = scores.softmax(-1).to(value.dtype)
    return (F.dropout(weights, dropout) if dropout else weights) @ value


def masked_lm_logits(model: Any, vectors: Tensor) -> Tensor:
    """Logits (positions, vocabulary) of the masked language model for encoder outputs."""
    logits: Tensor = model.cls.predictions(vectors)
    return logits


def next_sentence_logits(model: Any, vectors: Tensor) -> Tensor:
    """Logits (sequences, 2) from the encoder outputs at [CLS]; 0 means that B follows A, as in BERT."""
    pooler: nn.Module = model.bert.pooler
    logits: Tensor = model.cls.seq_relationship(torch.tanh(pooler.dense(vectors)))  # type: ignore[operator]
    return logits

"""Memory of a batch in fine-tuning, by which the trainer divides batches and plans predict the division."""

from typing import Literal

Weights = Literal["float32", "bfloat16"]
"""Precision of the weights that an encoder computes with on a GPU."""
BYTES_KEPT: dict[Weights, int] = {"bfloat16": 52, "float32": 104}
"""Bytes that the backward pass keeps of a token, for each layer and hidden unit, as in pretraining."""


def bytes_of_token(layers: int, hidden: int, weights: Weights) -> int:
    """Return the bytes of a token's activations, with fused attention, which keeps no scores."""
    return BYTES_KEPT[weights] * hidden * layers


def tokens_at_once(memory: float, layers: int, hidden: int, weights: Weights) -> int:
    """Return the number of padded tokens that a GPU can compute at once: their activations fill half of its
    `memory`, which is in bytes."""
    return int(memory // 2 // bytes_of_token(layers, hidden, weights))

"""Configuration of ModernBERT for pretraining, as transformers' class."""

from pathlib import Path
from typing import Any

from torch import nn
from transformers import ModernBertConfig

from pubmill.errors import PubmillError
from pubmill.recipes import Architecture

COMPARED = ("layer_types", "rope_parameters", "local_attention", "hidden_activation")
BIASES = ("norm_bias", "attention_bias", "mlp_bias", "classifier_bias")


def rotary_config(architecture: Architecture, vocab_size: int, special: dict[str, int]) -> ModernBertConfig:
    """Return the configuration of a ModernBERT of this size. transformers initialises it as Megatron does:
    truncated normal numbers, divided by the root of twice the layers before residual additions."""
    rotary, layers = architecture.rotary, range(architecture.layers)
    return ModernBertConfig(
        vocab_size=vocab_size,
        hidden_size=architecture.hidden_size,
        intermediate_size=architecture.intermediate_size,
        num_hidden_layers=architecture.layers,
        num_attention_heads=architecture.attention_heads,
        max_position_embeddings=architecture.max_positions,
        initializer_range=architecture.initializer_range,
        layer_types=["sliding_attention" if n % rotary.global_every else "full_attention" for n in layers],
        rope_parameters={
            "full_attention": {"rope_type": "default", "rope_theta": rotary.global_base},
            "sliding_attention": {"rope_type": "default", "rope_theta": rotary.local_base},
        },
        local_attention=rotary.window,
        pad_token_id=special["pad"],
        cls_token_id=special["cls"],
        sep_token_id=special["sep"],
        bos_token_id=special["cls"],
        eos_token_id=special["sep"],
    )


def set_dropout(model: Any, dropout: float) -> None:
    """Set dropout after attention, the only one that ModernBERT is pretrained with (Warner et al. 2024, table
    3). Its configuration has one number for this and for the attention weights, so it stays 0 there."""
    for layer in model.base_model.layers:
        layer.attn.out_drop = nn.Dropout(dropout)


def check_rotary(folder: Path, loaded: Any, wanted: Any) -> None:
    """Raise a `PubmillError` unless a loaded model computes as the recipe's would."""
    for name in COMPARED:
        if getattr(loaded, name) != getattr(wanted, name):
            raise PubmillError(
                f"{folder} cannot be trained further by this recipe: its {name} is {getattr(loaded, name)}, "
                f"the recipe needs {getattr(wanted, name)}"
            )
    if biases := [name for name in BIASES if getattr(loaded, name)]:
        raise PubmillError(f"{folder} has biases ({', '.join(biases)}), which are not pretrained here")

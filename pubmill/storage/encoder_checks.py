"""Preconditions of fine-tuning: an encoder whose longest input is known, and a fast tokenizer."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pubmill.errors import PubmillError
from pubmill.storage.model_folder_checks import reported

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedTokenizerBase

TOKENS = {"pad_token": "padding", "cls_token": "the beginning", "sep_token": "the end"}
"""Tokens in every input -> their use."""


def load_settings(folder: Path, name: str) -> "tuple[PreTrainedConfig, PreTrainedTokenizerBase]":
    """Return a folder's configuration and tokenizer, without its weights.

    Raises a `PubmillError` unless they are of an encoder that can be fine-tuned.
    """
    from transformers import AutoConfig, AutoTokenizer

    with reported(f"{name}: transformers can't load this model folder"):
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    check_encoder(config, name)
    with reported(f"{name}: transformers can't load this tokenizer"):
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    check_tokenizer(tokenizer, name)
    return config, tokenizer


def check_encoder(config: "PreTrainedConfig", name: str) -> None:
    """Raise a `PubmillError` unless a configuration is of an encoder whose longest input is known."""
    from transformers.models.auto import modeling_auto

    kind: Any = type(config)
    causal, masked = modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING, modeling_auto.MODEL_FOR_MASKED_LM_MAPPING
    if getattr(config, "is_encoder_decoder", False):
        found = "an encoder with a decoder"
    elif (kind in causal and kind not in masked) or getattr(config, "is_decoder", False):
        found = "a decoder, which reads a text from left to right only"
    elif (getattr(config, "max_position_embeddings", None) or 0) <= 0:
        found = "a model without max_position_embeddings, so that the length of its inputs is unknown"
    else:
        return
    raise PubmillError(f"{name}: config.json ({config.model_type}) describes {found}; expected an encoder")


def check_tokenizer(tokenizer: "PreTrainedTokenizerBase", name: str) -> None:
    """Raise a `PubmillError` unless a tokenizer is a fast one with the tokens of inputs."""
    missing = [f"{key} ({use})" for key, use in TOKENS.items() if getattr(tokenizer, key) is None]
    if not tokenizer.is_fast:
        raise PubmillError(
            f"{name}: fine-tuning needs a fast tokenizer, and this is {type(tokenizer).__name__}; add a "
            f"tokenizer.json or vocab.txt to the folder"
        )
    if missing:
        raise PubmillError(
            f"{name}: the tokenizer has no {', '.join(missing)}; name them in tokenizer_config.json (where "
            f"there are bos_token and eos_token only, these serve as cls_token and sep_token)"
        )

"""The class of transformers that reads the encoder of a model folder."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import PreTrainedConfig


def encoder_class(config: "PreTrainedConfig") -> Any:
    """Return transformers' auto class for a model's encoder, without its decoder if it has one."""
    from transformers import AutoModel, AutoModelForTextEncoding

    return AutoModelForTextEncoding if has_encoder_alone(config) else AutoModel


def has_encoder_alone(config: "PreTrainedConfig") -> bool:
    """Return whether transformers has a class for the encoder of a model with a decoder (T5), whose relative
    positions allow inputs of any length."""
    from transformers.models.auto import modeling_auto

    kind: Any = type(config)
    known, whole = modeling_auto.MODEL_FOR_TEXT_ENCODING_MAPPING, modeling_auto.MODEL_MAPPING
    return kind in known and known[kind] is not whole[kind]

"""The class of transformers that reads the encoder of a model folder."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

UNREGISTERED = {
    "LongT5Config": "LongT5EncoderModel",
    "SwitchTransformersConfig": "SwitchTransformersEncoderModel",
}
"""Configurations whose classes for the encoder alone transformers has, but does not name as such."""


def encoder_class(config: "PreTrainedConfig") -> Any:
    """Return transformers' auto class for a model's encoder, without its decoder if it has one."""
    from transformers import AutoModel, AutoModelForTextEncoding

    return AutoModelForTextEncoding if has_encoder_alone(config) else AutoModel


def has_encoder_alone(config: "PreTrainedConfig") -> bool:
    """Return whether transformers has a class for the encoder of a model with a decoder (T5), whose relative
    positions allow inputs of any length."""
    import transformers
    from transformers.models.auto import modeling_auto

    kind: Any = type(config)
    known, whole = modeling_auto.MODEL_FOR_TEXT_ENCODING_MAPPING, modeling_auto.MODEL_MAPPING
    if name := UNREGISTERED.get(kind.__name__):
        known.register(kind, getattr(transformers, name), exist_ok=True)
    return kind in known and known[kind] is not whole[kind]


def is_read_by_decoder(config: "PreTrainedConfig") -> bool:
    """Return whether a text is read by an encoder and then by its decoder (BART), as by transformers' classes
    for texts (Lewis et al. 2019, section 3): the encoding of the last token has seen all of it, twice."""
    from transformers.models.auto import modeling_auto

    kind: Any = type(config)
    texts = modeling_auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING
    questions = modeling_auto.MODEL_FOR_QUESTION_ANSWERING_MAPPING
    both = bool(getattr(config, "is_encoder_decoder", False)) and not has_encoder_alone(config)
    return both and (kind in texts or kind in questions)

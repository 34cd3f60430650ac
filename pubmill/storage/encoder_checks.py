"""Encoders of model folders as transformers reads them, and their preconditions for fine-tuning: a model that
encodes texts, and a fast tokenizer with ends and padding."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pubmill.errors import PubmillError, StopRequestedError

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedTokenizerBase

UNREGISTERED = ("LongT5", "SwitchTransformers")
"""Architectures with an encoder-only class that transformers lacks in its mapping for text encoding."""
TOKENS = {"the end": ("sep_token", "eos_token"), "padding": ("pad_token", "eos_token")}
"""Parts of every input -> the tokens that can stand for them."""
TEXT_TASKS = ("MASKED_LM", "CAUSAL_LM", "SEQUENCE_CLASSIFICATION", "TOKEN_CLASSIFICATION")
"""Tasks of models of text alone, as transformers names them."""
BOTH_WAYS = ("xlnet", "bert-generation")
"""Model types that transformers lists for generation only although they read in both directions."""
LENGTHS = (
    "max_position_embeddings",
    "max_encoder_position_embeddings",
    "max_decoder_position_embeddings",
    "max_seq_len",
)
"""Keys of config.json for the number of positions: most models', LED's, MPT's."""


@contextmanager
def reported(what: str) -> Iterator[None]:
    """Convert every error of the libraries for a damaged or malicious folder to a `PubmillError`. The
    tokenizers library may panic, which is not an `Exception`."""
    try:
        yield
    except (PubmillError, StopRequestedError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        text = " ".join(str(error).split())
        raise PubmillError(f"{what} ({type(error).__name__}: {text[:300]})") from None


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
    if (name := kind.__name__.removesuffix("Config")) in UNREGISTERED:
        known.register(kind, getattr(transformers, f"{name}EncoderModel"), exist_ok=True)
    return kind in known and known[kind] is not whole[kind]


def is_read_by_decoder(config: "PreTrainedConfig") -> bool:
    """Return whether the encoder and then the decoder read a text, as in BART (Lewis et al. 2019, section 3).
    transformers' classes for texts do so: the decoder's last token then encodes the whole text."""
    both = bool(getattr(config, "is_encoder_decoder", False)) and not has_encoder_alone(config)
    return both and _has_class(config, "SEQUENCE_CLASSIFICATION", "QUESTION_ANSWERING")


def _has_class(config: "PreTrainedConfig", *tasks: str) -> bool:
    """Return whether transformers has a class for a configuration and one of its tasks."""
    from transformers.models.auto import modeling_auto

    return any(type(config) in getattr(modeling_auto, f"MODEL_FOR_{task}_MAPPING") for task in tasks)


def load_config(folder: Path, name: str) -> Any:
    """Return a folder's configuration, for the encoder alone if `encoder_class` reads that; a `PubmillError`
    reports one that transformers can't load."""
    from transformers import AutoConfig

    with reported(f"{name}: transformers can't load this model folder"):
        config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        if has_encoder_alone(config):
            config.is_encoder_decoder = False  # T5Gemma's class refuses it, the others set it themselves
        return config


def load_tokenizer(folder: Path, name: str, **options: Any) -> Any:
    """Return a folder's tokenizer, with options over its own; a `PubmillError` if it can't be loaded."""
    from transformers import AutoTokenizer

    with reported(f"{name}: transformers can't load this tokenizer"):
        return AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False, **options
        )


def load_settings(
    folder: Path, name: str, exact: bool = False
) -> "tuple[PreTrainedConfig, PreTrainedTokenizerBase]":
    """Return a folder's configuration and tokenizer, without its weights. Raises a `PubmillError` unless they
    are of an encoder that can be fine-tuned. `exact`: it has one embedding per piece, as models made here."""
    import torch

    config = load_config(folder, name)
    check_encoder(config, name)
    tokenizer = load_tokenizer(folder, name)
    check_tokenizer(tokenizer, name)
    with reported(f"{name}: transformers can't load this model folder"), torch.device("meta"):
        encoder: Any = encoder_class(config).from_config(config, trust_remote_code=False)
    pieces, rows = len(tokenizer), len(encoder.get_input_embeddings().weight)
    if pieces <= len(tokenizer.all_special_ids):
        raise PubmillError(
            f"{name}: the tokenizer has {pieces} pieces, all of them special: transformers found no file of "
            f"its vocabulary in this folder; add it"
        )
    if pieces > rows or (exact and pieces != rows):
        raise PubmillError(
            f"{name}: the tokenizer has {pieces} pieces, the model {rows} embeddings; was it trained with "
            f"another vocabulary?"
        )
    check_ids(tokenizer, rows, name)
    return config, tokenizer


def check_ids(tokenizer: "PreTrainedTokenizerBase", rows: int, name: str) -> None:
    """Raise a `PubmillError` if a token, or one that the tokenizer puts around texts, has an id beyond the
    model's `rows` of embeddings."""
    around = tokenizer("a", "b")["input_ids"]
    pieces = {number: piece for piece, number in tokenizer.get_vocab().items()}
    largest = max([*pieces, *around])
    if largest >= rows:
        raise PubmillError(
            f"{name}: the tokenizer gives {pieces.get(largest, 'a token around texts')!r:.80} the id "
            f"{largest}, but the model has {rows} embeddings, of ids 0 to {rows - 1}; take the tokenizer "
            f"that the model was trained with, or leave that token out of the tokenizer's files"
        )


def check_encoder(config: "PreTrainedConfig", name: str) -> None:
    """Raise a `PubmillError` unless a configuration is of a model that encodes texts."""
    if config.model_type == "nystromformer" and config.num_landmarks != config.segment_means_seq_len:
        found = "landmarks fewer than segment_means_seq_len, with which transformers can't mask padding"
    elif has_encoder_alone(config) or is_read_by_decoder(config):
        return
    elif getattr(config, "is_encoder_decoder", False):
        found = "an encoder with a decoder, and transformers has no class that reads texts with either"
    elif not hasattr(config, "vocab_size"):
        found = "a model without a vocabulary of pieces (vocab_size)"
    elif not _has_class(config, *TEXT_TASKS):
        found = "no model of text alone"
    elif any(getattr(config, key, None) == 0 for key in LENGTHS):
        found = "a model for inputs without tokens (max_position_embeddings: 0)"
    else:
        return
    raise PubmillError(f"{name}: config.json ({config.model_type}) describes {found}; expected an encoder")


def longest_text(config: "PreTrainedConfig") -> int | None:
    """Return the number of positions that a configuration allows, the smaller of encoder and decoder; None
    if positions have no limit (T5, XLNet, Bloom, Mamba)."""
    lengths = [value for key in LENGTHS if (value := getattr(config, key, None) or 0) > 0]
    return min(lengths, default=None)


def is_causal(config: "PreTrainedConfig") -> bool:
    """Return whether a model encodes tokens without those after them, or finally by a decoder (BART)."""
    alone = _has_class(config, "CAUSAL_LM") and not _has_class(config, "MASKED_LM")
    alone = alone and config.model_type not in BOTH_WAYS and not config.is_encoder_decoder
    return alone or is_read_by_decoder(config) or bool(getattr(config, "is_decoder", False))


def makes_lowercase(tokenizer: "PreTrainedTokenizerBase") -> bool:
    """Return whether a fast tokenizer lowercases texts."""
    normalizer = tokenizer.backend_tokenizer.normalizer
    return normalizer is not None and normalizer.normalize_str("Protein") == "protein"


def check_tokenizer(tokenizer: "PreTrainedTokenizerBase", name: str) -> None:
    """Raise a `PubmillError` unless a tokenizer is fast and has tokens for the end and for padding."""
    missing = [
        f"{' or '.join(keys)} ({use})"
        for use, keys in TOKENS.items()
        if all(getattr(tokenizer, key) is None for key in keys)
    ]
    if not tokenizer.is_fast:
        raise PubmillError(
            f"{name}: fine-tuning needs a fast tokenizer, which knows the places of its pieces in a text; "
            f"this is {type(tokenizer).__name__}; add a tokenizer.json or vocab.txt to the folder, if the "
            f"architecture has one (CANINE, ByT5, Perceiver and ESM have none)"
        )
    if missing:
        raise PubmillError(
            f"{name}: the tokenizer has no {', '.join(missing)}; name them in tokenizer_config.json"
        )

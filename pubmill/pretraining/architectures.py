"""Networks to pretrain, as transformers classes, so that transformers loads what is saved."""

import math
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import nn
from transformers import ElectraForMaskedLM, PreTrainedConfig, PreTrainedModel

from pubmill.errors import PubmillError
from pubmill.recipes import Architecture, Generator, Objective
from pubmill.recipes.objectives import PAIRS
from pubmill.storage.checksums import check_folder
from pubmill.storage.encoder_checks import reported

SIZES = {
    "hidden_size": "hidden_size",
    "num_hidden_layers": "layers",
    "num_attention_heads": "attention_heads",
    "intermediate_size": "intermediate_size",
}
"""Name of a size in transformers' configurations -> its name in `Architecture`."""
COMPARED = (
    *("model_type", "vocab_size", "max_position_embeddings", *SIZES),
    *("layer_types", "rope_parameters", "local_attention", "hidden_activation"),
    *("norm_bias", "attention_bias", "mlp_bias", "classifier_bias"),
)
"""Settings in which a loaded model must be the recipe's; those of the last two lines are ModernBERT's."""


def make_config(architecture: Architecture, vocab_size: int, special: dict[str, int]) -> PreTrainedConfig:
    """Return the configuration of an encoder of this size; `special` maps pad, cls and sep to ids.
    transformers initialises ModernBERT as Megatron does: truncated normal numbers, divided by the root of
    twice the layers before residual additions."""
    family, dropout, rotary = architecture.family, architecture.dropout, architecture.rotary
    more: dict[str, Any] = {name: getattr(architecture, own) for name, own in SIZES.items()}
    positions, layers = architecture.max_positions, range(architecture.layers)
    if family == "modernbert":
        more |= {
            "layer_types": [
                "sliding_attention" if number % rotary.global_every else "full_attention" for number in layers
            ],
            "rope_parameters": {
                "full_attention": {"rope_type": "default", "rope_theta": rotary.global_base},
                "sliding_attention": {"rope_type": "default", "rope_theta": rotary.local_base},
            },
            "local_attention": rotary.window,
            "cls_token_id": special["cls"],
            "sep_token_id": special["sep"],
        }
    else:
        more |= {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
    if family == "roberta":
        # RoBERTa counts positions from the id of the padding token.
        positions += special["pad"] + 1
        more |= {"type_vocab_size": 1, "layer_norm_eps": 1e-5}
    if family in ("roberta", "albert", "modernbert"):
        more |= {"bos_token_id": special["cls"], "eos_token_id": special["sep"]}
    if family in ("electra", "albert"):
        more["embedding_size"] = architecture.embedding_size or architecture.hidden_size
    if family == "albert":
        more["classifier_dropout_prob"] = dropout
    kind: Any = transformers.CONFIG_MAPPING[family]
    made: PreTrainedConfig = kind(
        vocab_size=vocab_size,
        max_position_embeddings=positions,
        initializer_range=architecture.initializer_range,
        pad_token_id=special["pad"],
        **more,
    )
    return made


def model_class(architecture: Architecture, objective: Objective) -> Any:
    """Return the transformers class with this objective's heads; for ELECTRA, the discriminator."""
    classes = transformers.MODEL_FOR_MASKED_LM_MAPPING
    if architecture.family == "electra" or objective.pairs in PAIRS:
        classes = transformers.MODEL_FOR_PRETRAINING_MAPPING
    return classes[transformers.CONFIG_MAPPING[architecture.family]]


def build_model(
    architecture: Architecture, objective: Objective, vocab_size: int, special: dict[str, int], seed: int
) -> PreTrainedModel:
    """Return a freshly initialised model in float32, the same for the same arguments; torch's random state is
    left unchanged. Once saved, it loads with `AutoModel`, and `AutoModelForMaskedLM` if it fills in masks."""
    made = model_class(architecture, objective)
    config = make_config(architecture, vocab_size, special)
    config.architectures = [made.__name__]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model: PreTrainedModel = made(config)
    if architecture.scaled_initialisation:
        # Before each residual addition, divided by the square root of the number of additions.
        base: Any = model.base_model
        layers = base.encoder.layer
        with torch.no_grad():
            for layer in layers:
                for dense in (layer.attention.output.dense, layer.output.dense):
                    dense.weight.div_(math.sqrt(2 * len(layers)))
    if architecture.family == "modernbert":
        set_dropout(model, architecture.dropout)
    return model


def load_model(
    folder: Path,
    architecture: Architecture,
    objective: Objective,
    vocab_size: int,
    special: dict[str, int],
    seed: int,
) -> PreTrainedModel:
    """Return the model of a Hugging Face folder; missing heads are freshly initialised. Dropout is set by the
    recipe. Raises a `PubmillError` for another family, size or vocabulary."""
    made, modern, dropout = model_class(architecture, objective), architecture.family == "modernbert", {}
    if not modern:
        names = ("hidden_dropout_prob", "attention_probs_dropout_prob")
        dropout = dict.fromkeys(names, architecture.dropout)
    check_folder(folder)
    with torch.random.fork_rng(devices=[]), reported(f"{folder}: transformers can't load this model folder"):
        torch.manual_seed(seed)
        model: PreTrainedModel = made.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            dtype=torch.float32,
            **dropout,
        )
    wanted = make_config(architecture, vocab_size, special)
    for name in COMPARED:
        found, expected = getattr(model.config, name, None), getattr(wanted, name, None)
        if found != expected:
            raise PubmillError(
                f"{folder} cannot be trained further by this recipe: its {name} is {found}, the "
                f"recipe and the vocabulary need {expected}"
            )
    if modern:
        set_dropout(model, architecture.dropout)
    model.config.architectures = [made.__name__]
    return model


def build_generator(generator: Generator, discriminator: Any, seed: int) -> ElectraForMaskedLM:
    """Return ELECTRA's generator, which shares the discriminator's embeddings (Clark et al. 2020, 3.2)."""
    smaller = {name: getattr(generator, own) for name, own in SIZES.items() if own != "layers"}
    config = transformers.ElectraConfig(**(discriminator.config.to_dict() | smaller))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        made = ElectraForMaskedLM(config)
    made.electra.embeddings = discriminator.electra.embeddings
    made.generator_lm_head.weight = discriminator.electra.embeddings.word_embeddings.weight
    return made


def set_dropout(model: Any, dropout: float) -> None:
    """Set dropout after attention, the only one of ModernBERT's pretraining (Warner et al. 2024, table 3).
    The configuration's value would also apply to the attention weights, so it stays 0."""
    for layer in model.base_model.layers:
        layer.attn.out_drop = nn.Dropout(dropout)

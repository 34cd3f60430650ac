"""Networks to pretrain, as transformers classes, so that transformers loads what is saved."""

import math
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import nn
from transformers import ElectraForMaskedLM, ModernBertConfig, PreTrainedConfig, PreTrainedModel

from pubmill.errors import PubmillError
from pubmill.recipes import Architecture, Generator, Objective
from pubmill.recipes.objectives import PAIRS
from pubmill.storage.checksums import check_folder

CONFIGS: dict[str, Any] = {
    "bert": transformers.BertConfig,
    "roberta": transformers.RobertaConfig,
    "electra": transformers.ElectraConfig,
    "albert": transformers.AlbertConfig,
    "megatron-bert": transformers.MegatronBertConfig,
}
WITH_PAIRS: dict[str, Any] = {
    "bert": transformers.BertForPreTraining,
    "albert": transformers.AlbertForPreTraining,
    "megatron-bert": transformers.MegatronBertForPreTraining,
}
WITHOUT_PAIRS: dict[str, Any] = {
    "bert": transformers.BertForMaskedLM,
    "roberta": transformers.RobertaForMaskedLM,
    "electra": transformers.ElectraForPreTraining,
    "albert": transformers.AlbertForMaskedLM,
    "megatron-bert": transformers.MegatronBertForMaskedLM,
    "modernbert": transformers.ModernBertForMaskedLM,
}
SIZES = {
    "hidden_size": "hidden_size",
    "num_hidden_layers": "layers",
    "num_attention_heads": "attention_heads",
    "intermediate_size": "intermediate_size",
}
"""Name of a size in transformers' configurations -> its name in `Architecture`."""
COMPARED = ("layer_types", "rope_parameters", "local_attention", "hidden_activation")
BIASES = ("norm_bias", "attention_bias", "mlp_bias", "classifier_bias")


def make_config(architecture: Architecture, vocab_size: int, special: dict[str, int]) -> PreTrainedConfig:
    """Return the configuration of an encoder of this size; `special` maps pad, cls and sep to ids."""
    family, dropout = architecture.family, architecture.dropout
    if family == "modernbert":
        return rotary_config(architecture, vocab_size, special)
    more: dict[str, Any] = {name: getattr(architecture, own) for name, own in SIZES.items()}
    positions = architecture.max_positions
    if family == "roberta":
        # RoBERTa counts positions from the id of the padding token.
        positions += special["pad"] + 1
        more |= {"type_vocab_size": 1, "layer_norm_eps": 1e-5}
    if family in ("roberta", "albert"):
        more |= {"bos_token_id": special["cls"], "eos_token_id": special["sep"]}
    if family in ("electra", "albert"):
        more["embedding_size"] = architecture.embedding_size or architecture.hidden_size
    if family == "albert":
        more["classifier_dropout_prob"] = dropout
    return CONFIGS[family](  # type: ignore[no-any-return]
        vocab_size=vocab_size,
        max_position_embeddings=positions,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        initializer_range=architecture.initializer_range,
        pad_token_id=special["pad"],
        **more,
    )


def model_class(architecture: Architecture, objective: Objective) -> Any:
    """Return the transformers class with this objective's heads; for ELECTRA, the discriminator."""
    return (WITH_PAIRS if objective.pairs in PAIRS else WITHOUT_PAIRS)[architecture.family]


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
        _scale_outputs(model)
    if architecture.family == "modernbert":
        set_dropout(model, architecture.dropout)
    return model


def _scale_outputs(model: PreTrainedModel) -> None:
    """Divide the weights before each residual addition by the square root of the number of additions."""
    base: Any = model.base_model
    layers = base.encoder.layer
    with torch.no_grad():
        for layer in layers:
            for dense in (layer.attention.output.dense, layer.output.dense):
                dense.weight.div_(math.sqrt(2 * len(layers)))


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
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            model = made.from_pretrained(
                folder,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                dtype=torch.float32,
                **dropout,
            )
        except (OSError, ValueError, RuntimeError) as error:
            raise PubmillError(f"{folder}: transformers can't load this model folder: {error}") from None
    wanted = make_config(architecture, vocab_size, special)
    for name in ("model_type", "vocab_size", "max_position_embeddings", *SIZES):
        found, expected = getattr(model.config, name), getattr(wanted, name)
        if found != expected:
            raise PubmillError(
                f"{folder} cannot be trained further by this recipe: its {name} is {found}, the "
                f"recipe and the vocabulary need {expected}"
            )
    if modern:
        check_rotary(folder, model.config, wanted)
        set_dropout(model, architecture.dropout)
    model.config.architectures = [made.__name__]
    return model  # type: ignore[no-any-return]


def build_generator(generator: Generator, discriminator: Any, seed: int) -> ElectraForMaskedLM:
    """Return ELECTRA's generator, which shares the discriminator's embeddings (Clark et al. 2020, 3.2)."""
    smaller = {
        "hidden_size": generator.hidden_size,
        "num_attention_heads": generator.attention_heads,
        "intermediate_size": generator.intermediate_size,
    }
    config = transformers.ElectraConfig(**(discriminator.config.to_dict() | smaller))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        made = ElectraForMaskedLM(config)
    made.electra.embeddings = discriminator.electra.embeddings
    made.generator_lm_head.weight = discriminator.electra.embeddings.word_embeddings.weight
    return made


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
    """Set dropout after attention, the only one of ModernBERT's pretraining (Warner et al. 2024, table 3).
    The configuration's value would also apply to the attention weights, so it stays 0."""
    for layer in model.base_model.layers:
        layer.attn.out_drop = nn.Dropout(dropout)


def check_rotary(folder: Path, loaded: Any, wanted: Any) -> None:
    """Raise a `PubmillError` if a loaded ModernBERT has biases or differs from the recipe in `COMPARED`."""
    for name in COMPARED:
        if getattr(loaded, name) != getattr(wanted, name):
            raise PubmillError(
                f"{folder} cannot be trained further by this recipe: its {name} is {getattr(loaded, name)}, "
                f"the recipe needs {getattr(wanted, name)}"
            )
    if biases := [name for name in BIASES if getattr(loaded, name)]:
        raise PubmillError(f"{folder} has biases ({', '.join(biases)}), which are not pretrained here")

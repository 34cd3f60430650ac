"""Stabilisation of fine-tuning on small datasets and of large models (tinn2021 sections 2.4, 3.2 to 3.6).

All steps change the encoder before training and are independent of the task.
"""

from typing import TYPE_CHECKING

import torch

from pubmill.errors import PubmillError
from pubmill.finetuning.encoders import embeddings, layers
from pubmill.recipes import FinetuningRecipe

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def prepare_encoder(encoder: "PreTrainedModel", recipe: FinetuningRecipe) -> None:
    """Remove top layers, re-initialise the top remaining ones and freeze low ones, as the recipe specifies.

    Raises a `PubmillError` if the encoder has too few layers, or layers that cannot be separated.
    """
    if not (recipe.removed_layers or recipe.reinitialised_layers or recipe.frozen_layers is not None):
        return
    _check_layer_counts(recipe, len(layers(encoder)))
    if recipe.removed_layers:
        remove_layers(encoder, recipe.removed_layers)
    if recipe.reinitialised_layers:
        reinitialise_layers(encoder, recipe.reinitialised_layers)
    if recipe.frozen_layers is not None:
        freeze_layers(encoder, recipe.frozen_layers)


def remove_layers(encoder: "PreTrainedModel", number: int) -> None:
    """Remove the top `number` of layers (tinn2021 section 3.5); a norm that follows the layers stays."""
    stack = layers(encoder)
    config = encoder.config
    del stack[len(stack) - number :]
    config.num_hidden_layers = len(stack)
    if getattr(config, "layer_types", None):
        config.layer_types = config.layer_types[: len(stack)]


@torch.no_grad()
def reinitialise_layers(encoder: "PreTrainedModel", number: int) -> None:
    """Re-initialise the top `number` of layers with the encoder's own initialisation, from torch's global
    generator (Zhang et al. 2021)."""
    stack = layers(encoder)
    for layer in stack[len(stack) - number :]:
        for parameter in layer.parameters():
            # transformers marks loaded modules and does not initialise them again.
            parameter._is_hf_initialized = False  # type: ignore[attr-defined]
        layer.apply(encoder._init_weights)


def freeze_layers(encoder: "PreTrainedModel", number: int) -> None:
    """Freeze the embeddings and the lowest `number` of layers (Grießhaber et al. 2020).

    Only their weights are frozen: their dropout stays active, as in all other fine-tuning.
    """
    for module in (*embeddings(encoder), *layers(encoder)[:number]):
        module.requires_grad_(False)


def _check_layer_counts(recipe: FinetuningRecipe, count: int) -> None:
    left = count - recipe.removed_layers
    frozen = recipe.frozen_layers or 0
    if left < 1:
        raise PubmillError(
            f"removed_layers is {recipe.removed_layers}, but the encoder has {count} layers; at least one "
            "must stay"
        )
    if recipe.reinitialised_layers + frozen > left:
        raise PubmillError(
            f"reinitialised_layers is {recipe.reinitialised_layers} and frozen_layers {frozen}: more than "
            f"the {left} layers that the encoder has after removed_layers, and none can be both"
        )

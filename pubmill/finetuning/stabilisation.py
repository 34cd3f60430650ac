"""What keeps the fine-tuning of small datasets and large models stable (tinn2021 sections 2.4, 3.2 to 3.6).

All of it is done to an encoder before training; none of it knows the task.
"""

from transformers import PreTrainedModel

from pubmill.recipes import FinetuningRecipe


def prepare_encoder(encoder: PreTrainedModel, recipe: FinetuningRecipe) -> None:
    """Remove and re-initialise top layers, freeze low ones, as the recipe says."""

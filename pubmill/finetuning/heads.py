"""Heads on an encoder (gu2020 sections 5.1, 5.2; shin2020 Tables 1 and 2)."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import torch
from torch import nn

from pubmill.finetuning.encoders import forward
from pubmill.finetuning.inputs import Batch
from pubmill.recipes import FinetuningRecipe

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class TaskModel(nn.Module):
    """An encoder with a head that scores the encodings at a batch's places."""

    def __init__(self, encoder: "PreTrainedModel", head: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = head

    def forward(self, batch: Batch) -> torch.Tensor:
        """Return the scores (float32); the task's head defines the number of rows."""
        return self.score(self.encode(batch.inputs), batch)

    def encode(self, inputs: torch.Tensor) -> torch.Tensor:
        """Return the encodings (instances x width x size) of a batch's `inputs`."""
        ids, mask, *segments = inputs
        if self.encoder.dtype == torch.float32:
            return forward(self.encoder, ids, mask, *(segments or [None]))
        # Autocast would compute norms and residuals of a bfloat16 encoder in float32.
        with torch.autocast(inputs.device.type, enabled=False):
            return forward(self.encoder, ids, mask, *(segments or [None]))

    def score(self, encodings: torch.Tensor, batch: Batch) -> torch.Tensor:
        """Return the scores (float32) of the encodings at the batch's places."""
        scores: torch.Tensor = self.head(batch.read(encodings), batch)
        return scores.float()


class Layers(nn.Module):
    """Dropout, then any number of fully connected ReLU layers and a linear layer (shin2020 Tables 1 and 2, in
    the order of NVIDIA/NeMo@246e40f nemo/collections/nlp/modules/common/token_classifier.py)."""

    def __init__(self, width: int, outputs: int, recipe: FinetuningRecipe) -> None:
        super().__init__()
        widths = [width, *recipe.head_sizes]
        hidden: list[nn.Module] = []
        for before, after in pairwise(widths):
            hidden += [linear(before, after), nn.ReLU()]
        self.dropout = nn.Dropout(recipe.head_dropout)
        self.hidden = nn.Sequential(*hidden)
        self.linear = linear(widths[-1], outputs)

    def forward(self, places: torch.Tensor, batch: Batch) -> torch.Tensor:
        last = self.hidden(self.dropout(places))
        # In float32: bfloat16 has so few values that many scores would tie, and ties decide answers.
        with torch.autocast(places.device.type, enabled=False):
            scores: torch.Tensor = self.linear(last.float())
        return scores


class PoolerLayers(nn.Module):
    """A layer of the encoder's width with tanh, dropout and a linear layer: transformers' head for texts.

    The first layer is new, with dropout before it, as after RoBERTa; or, without dropout, the pooler of an
    encoder that learnt next-sentence prediction, as after BERT (`start_from`).
    """

    def __init__(self, width: int, outputs: int, recipe: FinetuningRecipe) -> None:
        super().__init__()
        self.first = nn.Dropout(recipe.head_dropout)
        self.dense = linear(width, width)
        self.dropout = nn.Dropout(recipe.head_dropout)
        self.linear = linear(width, outputs)

    def start_from(self, pooler: nn.Linear) -> None:
        """Start with the weights of a pretrained pooler, which reads the encodings without dropout."""
        self.dense.load_state_dict(pooler.state_dict())
        self.first.p = 0.0

    def forward(self, places: torch.Tensor, batch: Batch) -> torch.Tensor:
        last = self.dropout(torch.tanh(self.dense(self.first(places))))
        with torch.autocast(places.device.type, enabled=False):
            scores: torch.Tensor = self.linear(last.float())
        return scores


def linear(before: int, after: int) -> nn.Linear:
    """Return a linear layer with BERT's initialisation."""
    layer = nn.Linear(before, after)
    nn.init.normal_(layer.weight, std=0.02)
    nn.init.zeros_(layer.bias)
    return layer


def by_instance(rows: torch.Tensor, counts: Sequence[int]) -> list[torch.Tensor]:
    """Split the rows of all instances, one after another, into the rows of each instance."""
    return list(torch.split(rows, list(counts)))

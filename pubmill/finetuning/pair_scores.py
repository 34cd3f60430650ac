"""Head and loss of relations between concepts, after ATLOP (Zhou et al. 2021, wzhouad/ATLOP@1db77ab)."""

import math

import torch
from torch import nn
from torch.nn import functional

from pubmill.finetuning.heads import linear
from pubmill.finetuning.inputs import Batch
from pubmill.finetuning.pooling import pooled
from pubmill.recipes import FinetuningRecipe

BLOCK = 64
"""Size of a block of the grouped bilinear layer (`block_size` of the authors' model.py)."""


class PairScores(nn.Module):
    """Scores of the labels of each pair of concepts, after that of the threshold.

    An encoding of each concept: the log of the sum of the exponentials of its mentions' encodings; a layer
    with tanh for the first and one for the second concept; a bilinear layer over blocks of both. ATLOP's
    localised context, which reads the encoder's attention, is not part of it.
    """

    def __init__(self, width: int, labels: int, recipe: FinetuningRecipe) -> None:
        super().__init__()
        self.block = math.gcd(width, BLOCK)
        self.dropout = nn.Dropout(recipe.head_dropout)
        self.first, self.second = linear(width, width), linear(width, width)
        self.bilinear = linear(width * self.block, 1 + labels)

    def forward(self, places: torch.Tensor, batch: Batch) -> torch.Tensor:
        """Return the scores, pairs x (threshold, labels)."""
        assert batch.groups is not None
        concepts = self.dropout(pooled(places, batch.groups, "logsumexp"))
        blocks = (-1, concepts.shape[-1] // self.block, self.block)
        first = torch.tanh(self.first(concepts[0::2])).view(*blocks)
        second = torch.tanh(self.second(concepts[1::2])).view(*blocks)
        products = (first.unsqueeze(-1) * second.unsqueeze(-2)).flatten(1)
        with torch.autocast(places.device.type, enabled=False):
            scores: torch.Tensor = self.bilinear(products.float())
        return scores


def threshold_loss(scores: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return the adaptive-thresholding loss, the mean over pairs (ATLOP, section 4.2).

    Each right label must score above the threshold, among the threshold and the right labels; the threshold
    must score above all wrong labels. `targets`: pairs x labels, 1 where the label is right.
    """
    threshold = torch.zeros_like(scores)
    threshold[:, 0] = 1.0
    right = functional.pad(targets, (1, 0))
    above = scores.masked_fill((right + threshold) == 0, -torch.inf)
    below = scores.masked_fill(right > 0, -torch.inf)
    of_right = functional.log_softmax(above, -1).masked_fill(right == 0, 0.0)
    of_threshold = functional.log_softmax(below, -1)[:, 0]
    return -(of_right.sum(-1) + of_threshold).mean()

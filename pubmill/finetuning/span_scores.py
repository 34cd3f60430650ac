"""Head that classifies runs of words, after PURE's entity model (Zhong and Chen 2021,
princeton-nlp/PURE@b1e9cad entity/models.py)."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from pubmill.finetuning.heads import Layers
from pubmill.finetuning.inputs import Batch
from pubmill.hardware.torch_setup import to_device
from pubmill.recipes import FinetuningRecipe

LENGTH_SIZE = 150
"""Size of the embedding of a run's length (`width_embedding_dim`)."""


class SpanScores(nn.Module):
    """Scores of each run of at most `longest` words: layers on the encodings of its first and last subword
    and an embedding of its length. PURE's layers are `head: mlp` with `head_sizes: [150, 150]`."""

    def __init__(self, width: int, outputs: int, recipe: FinetuningRecipe) -> None:
        super().__init__()
        self.longest = recipe.max_mention_length
        self.lengths = nn.Embedding(self.longest, LENGTH_SIZE)
        nn.init.normal_(self.lengths.weight, std=0.02)
        self.layers = Layers(2 * width + LENGTH_SIZE, outputs, recipe)

    def forward(self, places: torch.Tensor, batch: Batch) -> torch.Tensor:
        """Return the scores, runs x outputs. `places`: first and last subword of each word."""
        words = [count // 2 for count in batch.counts]
        starts = np.cumsum(words) - words
        runs = np.concatenate(
            [start + runs_of(count, self.longest) for start, count in zip(starts, words, strict=True)]
        )
        first, last = (to_device(torch.from_numpy(side.copy()), places.device) for side in runs.T)
        parts = (places[2 * first], places[2 * last + 1], self.lengths(last - first).to(places))
        scores: torch.Tensor = self.layers(torch.cat(parts, -1), batch)
        return scores


def runs_of(words: int, longest: int) -> npt.NDArray[np.int64]:
    """Return first and last word of each run of at most `longest` of a sentence's words, in order."""
    first = np.repeat(np.arange(words), longest)
    last = first + np.tile(np.arange(longest), words)
    runs = np.stack([first, last], 1)
    return runs[last < words]


def number_of_runs(words: Sequence[int], longest: int) -> list[int]:
    """Return the number of runs of sentences of so many words."""
    return [len(runs_of(count, longest)) for count in words]

"""Bidirectional LSTM on the encodings of an instance (gu2020 section 5.2, Table 10)."""

import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_sequence, unpack_sequence

from pubmill.finetuning.heads import by_instance, linear
from pubmill.finetuning.inputs import Batch
from pubmill.recipes import FinetuningRecipe


class BiLstm(nn.Module):
    """A BiLSTM over the encodings of each instance, in order, and a linear layer.

    The recipe's `head_sizes` has the size of each direction; each of the two layers is preceded by dropout.
    Instances are packed, so that neither padding nor other instances influence the result.
    """

    def __init__(self, width: int, outputs: int, recipe: FinetuningRecipe) -> None:
        super().__init__()
        [size] = recipe.head_sizes
        self.dropout = nn.Dropout(recipe.head_dropout)
        self.lstm = nn.LSTM(width, size, bidirectional=True)
        self.linear = linear(2 * size, outputs)

    def forward(self, places: torch.Tensor, batch: Batch) -> torch.Tensor:
        """Return the scores (float32) of the states that `read` returns."""
        # In float32: rounding errors would accumulate over the steps.
        with torch.autocast(places.device.type, enabled=False):
            encodings = by_instance(self.dropout(places.float()), batch.counts)
            states, (last, _) = self.lstm(pack_sequence(encodings, enforce_sorted=False))
            scores: torch.Tensor = self.linear(self.dropout(self.read(states, last)))
        return scores

    def read(self, states: PackedSequence, last: torch.Tensor) -> torch.Tensor:
        """Return the states to be scored: one at each encoding; rows as in `places`."""
        return torch.cat(unpack_sequence(states))


class SequenceBiLstm(BiLstm):
    """BiLSTM for a label of the whole instance, from the last state of each direction.

    Used for relations in Table 10, without details in the paper. Our choice: all tokens are read, and the
    last states are scored.
    """

    def read(self, states: PackedSequence, last: torch.Tensor) -> torch.Tensor:
        """Concatenate the states of both directions: `last` (directions x instances x size) to instances x 2
        size."""
        return last.transpose(0, 1).flatten(1)

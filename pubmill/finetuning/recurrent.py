"""A bidirectional LSTM on the encodings of an instance (gu2020 section 5.2, Table 10)."""

import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_sequence, unpack_sequence

from pubmill.finetuning.heads import by_instance, linear
from pubmill.finetuning.inputs import Batch
from pubmill.recipes import FinetuningRecipe


class BiLstm(nn.Module):
    """A BiLSTM over each instance's encodings, in their order, and a linear layer to the scores.

    The recipe's `head_sizes` hold the size of each direction; a dropout precedes each of the two layers.
    Instances are packed: no padding is read, and none knows of another.
    """

    def __init__(self, width: int, outputs: int, recipe: FinetuningRecipe) -> None:
        super().__init__()
        [size] = recipe.head_sizes
        self.dropout = nn.Dropout(recipe.head_dropout)
        self.lstm = nn.LSTM(width, size, bidirectional=True)
        self.linear = linear(2 * size, outputs)

    def forward(self, places: torch.Tensor, batch: Batch) -> torch.Tensor:
        """Scores (float32) of what `read` gives."""
        # In float32 throughout: rounding would add up over the steps.
        with torch.autocast(places.device.type, enabled=False):
            encodings = by_instance(self.dropout(places.float()), batch.counts)
            states, (last, _) = self.lstm(pack_sequence(encodings, enforce_sorted=False))
            scores: torch.Tensor = self.linear(self.dropout(self.read(states, last)))
        return scores

    def read(self, states: PackedSequence, last: torch.Tensor) -> torch.Tensor:
        """The states that are scored: those at each encoding; rows as in `places`."""
        return torch.cat(unpack_sequence(states))


class SequenceBiLstm(BiLstm):
    """The same for a label of the whole instance, from the last state of each direction.

    Table 10 has it for relations; the paper doesn't give its details. That all tokens are read, and what is
    scored, is ours.
    """

    def read(self, states: PackedSequence, last: torch.Tensor) -> torch.Tensor:
        """`last`: directions x instances x size. Gives instances x twice that size."""
        return last.transpose(0, 1).flatten(1)

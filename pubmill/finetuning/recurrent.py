"""Bidirectional LSTM on the encodings of an instance (gu2020 section 5.2, Table 10)."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence

from pubmill.finetuning.heads import linear
from pubmill.finetuning.inputs import Batch
from pubmill.hardware.torch_setup import to_device
from pubmill.recipes import FinetuningRecipe

Rows = npt.NDArray[np.int64]


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
        order, packed, sizes = packing(batch.counts)
        # In float32: rounding errors would accumulate over the steps.
        with torch.autocast(places.device.type, enabled=False):
            encodings = _rows(self.dropout(places.float()), packed)
            states, (last, _) = self.lstm(PackedSequence(encodings, torch.from_numpy(sizes)))
            read = self.read(_rows(states.data, np.argsort(packed)), last, np.argsort(order))
            scores: torch.Tensor = self.linear(self.dropout(read))
        return scores

    def read(self, states: torch.Tensor, last: torch.Tensor, places: Rows) -> torch.Tensor:
        """Return the states to be scored: one at each encoding; rows as in `places`."""
        return states


class SequenceBiLstm(BiLstm):
    """BiLSTM for a label of the whole instance, from the last state of each direction.

    Used for relations in Table 10, without details in the paper. Our choice: all tokens are read, and the
    last states are scored.
    """

    def read(self, states: torch.Tensor, last: torch.Tensor, places: Rows) -> torch.Tensor:
        """Concatenate the states of both directions: `last` (directions x instances x size) to instances x 2
        size; `places`: where each instance is in `last`."""
        return _rows(last.transpose(0, 1), places).flatten(1)


def packing(counts: Sequence[int]) -> tuple[Rows, Rows, Rows]:
    """Return the order of instances from long to short, the order of their rows, first rows first, and the
    number of instances that have a first row, a second row and so on.

    Computed from the lengths on the host: torch's own packing copies them to a GPU and waits for it.
    """
    lengths = np.asarray(counts, dtype=np.int64)
    starts = np.cumsum(lengths) - lengths
    order = longest_first(counts)
    present = np.arange(lengths.max())[:, None] < lengths[order]
    rows = (starts[order] + np.arange(lengths.max())[:, None])[present]
    return order, rows, present.sum(1)


def longest_first(counts: Sequence[int]) -> Rows:
    """Return the order of instances from long to short; among equals, as in torch's own packing."""
    order: Rows = torch.sort(torch.tensor(counts), descending=True).indices.numpy()
    return order


def _rows(values: torch.Tensor, rows: Rows) -> torch.Tensor:
    return values.index_select(0, to_device(torch.from_numpy(rows), values.device))

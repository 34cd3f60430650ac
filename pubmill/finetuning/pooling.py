"""Pooling of mention encodings to relation encodings (gu2020 section 5.2, Table 12)."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch
from torch import nn

from pubmill.finetuning.inputs import Batch
from pubmill.hardware.torch_setup import to_device


class Concatenated(nn.Module):
    """Head on the concatenated encodings of an instance's `each` mentions.

    If a batch has groups, the encodings of each group are pooled to one first.
    """

    def __init__(self, each: int, pooling: Literal["max", "average"] | None, layers: nn.Module) -> None:
        super().__init__()
        self.each, self.pooling, self.layers = each, pooling, layers

    def forward(self, places: torch.Tensor, batch: Batch) -> torch.Tensor:
        """Return the scores, instances x outputs."""
        if self.pooling is not None:
            assert batch.groups is not None
            places = pooled(places, batch.groups, self.pooling)
        scores: torch.Tensor = self.layers(places.reshape(-1, self.each * places.shape[1]), batch)
        return scores


def pooled(
    rows: torch.Tensor, lengths: Sequence[int], how: Literal["max", "average", "logsumexp"]
) -> torch.Tensor:
    """Return the maximum, mean or log of the sum of exponentials, per column, of each run of rows.

    `rows`: sum of `lengths` x width; `lengths`: lengths of consecutive runs, at least 1. Returns runs x
    width. The runs are padded and masked instead of summed by index, so that all devices give the same bits.
    """
    sizes = np.asarray(lengths, dtype=np.int64)
    columns = np.arange(sizes.max())
    starts = np.cumsum(sizes) - sizes
    real = columns < sizes[:, None]
    at = np.where(real, starts[:, None] + columns, starts[:, None])
    index = to_device(torch.from_numpy(at.ravel()), rows.device)
    padding = to_device(torch.from_numpy(~real[:, :, None]), rows.device)
    grid = rows.index_select(0, index).view(*real.shape, -1)
    if how == "max":
        return grid.masked_fill(padding, -torch.inf).amax(1)
    if how == "logsumexp":
        return grid.masked_fill(padding, -torch.inf).logsumexp(1)
    counts = to_device(torch.from_numpy(sizes[:, None]), rows.device).to(rows.dtype)
    return grid.masked_fill(padding, 0.0).sum(1) / counts

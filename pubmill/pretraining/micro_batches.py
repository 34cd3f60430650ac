"""Micro-batches as tensors: some sequences of a batch, padded to the longest one.

`pubmill.pretraining.flat_batches` has those without padding.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pubmill.hardware.torch_setup import to_device
from pubmill.pretraining.instances import UNLABELLED, Ints, PackedBatch
from pubmill.pretraining.unpadded import SequenceBounds

LENGTH_MULTIPLE = 8


@dataclass(frozen=True)
class Part:
    """Some sequences on a device.

    `ids` and `segments`: (sequences, length). `mask`: the same shape, true at tokens; None without padding.
    Sequences without padding are concatenated as one: (1, tokens), `mask` has their bounds, and `positions`
    (1, tokens) count from the start of each sequence.
    `rows`: positions in the flattened batch: first the [CLS] of each sequence, to which `pair_labels` belong,
    then the masked positions, to which `labels` belong. `present`: the positions of all tokens. `causal`:
    (sequences,), true for those that are read from left to right; None without any, or if they are
    concatenated.
    """

    ids: Tensor
    segments: Tensor
    mask: Tensor | SequenceBounds | None
    rows: Tensor
    labels: Tensor
    pair_labels: Tensor
    present: Tensor
    positions: Tensor | None = None
    causal: Tensor | None = None

    @property
    def unpadded(self) -> bool:
        """Return whether the sequences are concatenated."""
        return isinstance(self.mask, SequenceBounds)

    @property
    def compiled(self) -> bool:
        """Return whether to compute it with compiled functions."""
        return isinstance(self.mask, SequenceBounds) and self.mask.compiled


def collate(
    batch: PackedBatch,
    ids: Ints,
    labels: Ints,
    rows: NDArray[Any],
    pad: int,
    device: torch.device,
    causal: int = 0,
) -> Part:
    """Pad the sequences `rows` of a batch; `ids` and `labels` (tokens,) are its tokens after masking and the
    original ids of masked ones (`UNLABELLED` elsewhere). The first `causal` sequences of the batch are read
    from left to right."""
    lengths, begin = batch.lengths[rows], (np.cumsum(batch.lengths) - batch.lengths)[rows]
    width = -(-int(lengths.max()) // LENGTH_MULTIPLE) * LENGTH_MULTIPLE
    present = np.arange(width) < lengths[:, None]
    source = (begin[:, None] + np.arange(width))[present]
    padded, segments = np.full(present.shape, pad), np.zeros(present.shape, np.int64)
    padded[present], segments[present] = ids[source], batch.segments[source]
    places = np.flatnonzero(present)
    masked = labels[source] != UNLABELLED

    def there(array: NDArray[Any]) -> Tensor:
        return to_device(torch.from_numpy(array), device)

    return Part(
        ids=there(padded),
        segments=there(segments),
        mask=None if present.all() else there(present),
        rows=there(np.concatenate([np.arange(len(rows)) * width, places[masked]])),
        labels=there(labels[source[masked]]),
        pair_labels=there(batch.pair_labels[rows]),
        present=there(places),
        causal=there(rows < causal) if (rows < causal).any() else None,
    )

"""Micro-batches as tensors: sequences padded to the longest one, or one after another without padding.

Those without padding have a fixed number of tokens. They are collated ahead, in another thread, as one int32
array in pinned memory, so that a micro-batch reaches the GPU by a single asynchronous copy.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pubmill.hardware.torch_setup import to_device
from pubmill.pretraining.instances import UNLABELLED, Instances, Ints, PackedBatch, ranges
from pubmill.pretraining.unpadded import Mask, SequenceBounds

LENGTH_MULTIPLE = 8
TOKEN_MULTIPLE = 256
ROW_MULTIPLE = 128
"""The number of rows with labels is a multiple of this, so that memory is requested in few sizes."""
DEVIATIONS = 2
"""Micro-batches have room for a batch whose tokens exceed the mean by this many standard deviations."""


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
    mask: Mask
    rows: Tensor
    labels: Tensor
    pair_labels: Tensor
    present: Tensor
    positions: Tensor | None = None
    causal: Tensor | None = None

    @property
    def compiled(self) -> bool:
        """Return whether to compute it with compiled functions."""
        return isinstance(self.mask, SequenceBounds) and self.mask.compiled


def collate(
    batch: PackedBatch, ids: Ints, labels: Ints, rows: Ints, pad: int, device: torch.device, causal: int = 0
) -> Part:
    """Pad the sequences `rows` of a batch; `ids` and `labels` (tokens,) are its tokens after masking and the
    original ids of masked ones (`UNLABELLED` elsewhere). The first `causal` sequences are read from left to
    right."""
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


def flat_size(instances: Instances, sequences: int, most: int, longest: int) -> int:
    """Return the number of tokens of a micro-batch, at most `most` but above `longest`: the tokens of a
    process's `sequences` in a step are spread evenly, so that the last micro-batch is almost full."""
    lengths = np.diff(instances.starts) + longest - instances.limit
    spread = DEVIATIONS * float(lengths.std()) * math.sqrt(sequences)
    expected = float(lengths.mean()) * sequences + spread
    # The last sequence of each micro-batch may not fit.
    count = math.ceil(expected / max(1, most - longest))
    size = math.ceil((expected / count + longest / 2 + 1) / TOKEN_MULTIPLE) * TOKEN_MULTIPLE
    return max(longest + 1, min(size, most))


def flat_micro_batches(lengths: Ints, size: int) -> list[Ints]:
    """Return the sequences that are computed together: consecutive ones with fewer than `size` tokens, so
    that a padding token remains."""
    ends, begin, batches = np.cumsum(lengths), 0, []
    while begin < len(lengths):
        before = int(ends[begin - 1]) if begin else 0
        end = int(np.searchsorted(ends, before + size - 1, side="right"))
        batches.append(np.arange(begin, end))
        begin = end
    return batches


@dataclass(frozen=True)
class FlatPart:
    """A micro-batch on the host: `numbers` of all fields of a `Part`, concatenated, and their `counts`."""

    numbers: Tensor
    counts: tuple[int, ...]
    longest: int
    causal: tuple[int, int] = (0, 0)

    def to(self, device: torch.device, compiled: bool) -> Part:
        """Return the micro-batch on a device."""
        numbers = self.numbers.to(device, non_blocking=True)
        ids, segments, positions, bounds, rows, labels, pair_labels, present = torch.split(
            numbers, list(self.counts)
        )
        return Part(
            ids=ids.unsqueeze(0),
            segments=segments.unsqueeze(0),
            mask=SequenceBounds(bounds, self.longest, compiled, self.causal),
            rows=rows.long(),
            labels=labels.long(),
            pair_labels=pair_labels.long(),
            present=present.long(),
            positions=positions.unsqueeze(0),
        )


def collate_flat(
    batch: PackedBatch, ids: Ints, labels: Ints, rows: Ints, size: int, limit: int, pad: int, causal: int = 0
) -> FlatPart:
    """Concatenate the sequences `rows` of a batch and fill up with padding to `size` tokens. Padding forms
    sequences of its own, of at most `limit` tokens. The rows with labels are filled up to a multiple of
    `ROW_MULTIPLE` by the last padding token, without a label. Arguments as of `collate`."""
    lengths, begin = batch.lengths[rows], (np.cumsum(batch.lengths) - batch.lengths)[rows]
    source, total = ranges(begin, lengths), int(lengths.sum())
    starts, empty = np.cumsum(lengths) - lengths, np.arange(total, size, limit)
    bounds = np.concatenate([starts, empty, [size]])
    tail = np.zeros(size - total, np.int64)
    masked = np.flatnonzero(labels[source] != UNLABELLED)
    more = -len(masked) % ROW_MULTIPLE
    parts = (
        np.concatenate([ids[source], tail + pad]),
        np.concatenate([batch.segments[source], tail]),
        np.concatenate([ranges(np.zeros_like(lengths), lengths), tail]),
        bounds,
        np.concatenate([starts, masked, np.full(more, size - 1)]),
        np.concatenate([labels[source[masked]], np.full(more, UNLABELLED)]),
        batch.pair_labels[rows],
        np.arange(total),
    )
    numbers = torch.from_numpy(np.concatenate(parts).astype(np.int32))
    pinned = numbers.pin_memory() if torch.cuda.is_available() else numbers
    first = int((rows < causal).sum())  # Rows are in the order of the batch.
    return FlatPart(pinned, tuple(map(len, parts)), limit, (first, int(lengths[:first].sum())))

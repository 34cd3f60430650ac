"""Inputs of an encoder: instances, the sampling of batches, their division into parts, and padded tensors.

Batches are random, and equal seeds give equal ones. The parts of a batch have inputs of similar lengths.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from pubmill.finetuning.encoders import Block, block_of
from pubmill.hardware.torch_setup import to_device


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One input, made from an example or from a part of one.

    `example`: index of the example in its split. `ids`: subword ids, with special tokens. `segments`: one
    segment id per subword; None if the encoder has no segments. `places`: indices in `ids` whose encodings
    the head reads. `groups`: lengths of consecutive runs of `places`, each pooled to one encoding; None if
    each place gives its own encoding.
    """

    example: int
    ids: list[int]
    segments: list[int] | None
    places: list[int]
    groups: list[int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoded:
    """All instances of some examples, with counts of changes that were needed to encode them, by kind."""

    instances: Sequence[Instance]
    counts: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class EncodedSplit:
    """Examples, encoded once for all epochs; `targets`: those of each instance, for training only."""

    examples: Sequence[Any]
    encoded: Encoded
    targets: list[list[float]]

    @property
    def lengths(self) -> list[int]:
        return [len(instance.ids) for instance in self.encoded.instances]


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Padded tensors of some instances.

    `inputs` (2 or 3 x instances x width, int64): subword ids, mask (1 for real tokens) and, if the encoder
    has them, segment ids. `places`: the places of all instances, one after another, in the flattened
    instances x width; None: every position there. `counts`: number of encodings of each instance after
    pooling. `groups`: lengths of the runs of `places` that are pooled, or None. `blocks`: those of a batch
    that was joined from parts, whose `inputs` then are a single one.
    """

    inputs: Tensor
    places: Tensor | None
    counts: list[int]
    groups: list[int] | None
    blocks: list[Block] | None = None

    @property
    def ids(self) -> Tensor:
        return self.inputs[0]

    def read(self, encodings: Tensor) -> Tensor:
        """Return the encodings (instances x width x size) at the places, one row for each."""
        rows = encodings.flatten(0, 1)
        return rows if self.places is None else rows.index_select(0, self.places)


def collate(
    instances: Sequence[Instance],
    pad: int,
    device: torch.device,
    width: int | None = None,
    every: bool = False,
) -> Batch:
    """Pad instances to `width`, by default the longest one; either all or none have segments and groups.
    `every`: read every position, not only the instances' places."""
    width = width or max(len(instance.ids) for instance in instances)
    groups = [instance.groups for instance in instances if instance.groups is not None]
    segments = [instance.segments for instance in instances if instance.segments is not None]
    ids = [instance.ids for instance in instances]
    mask = np.arange(width) < np.array([[len(row)] for row in ids])
    inputs = [_pad_rows(ids, width, pad), mask, *([_pad_rows(segments, width, 0)] if segments else [])]
    units = groups or [instance.places for instance in instances]
    return Batch(
        inputs=to_device(torch.from_numpy(np.stack(inputs, dtype=np.int64)), device),
        places=None if every else to_device(flat_places(instances, width), device),
        counts=[len(unit) for unit in units],
        groups=[length for lengths in groups for length in lengths] if groups else None,
    )


def joined(parts: Sequence[Batch]) -> Batch:
    """Return one batch of the parts, on a processor, in which each part is a block."""
    starts = np.cumsum([0, *(part.ids.numel() for part in parts)]).tolist()
    places = [
        part.places + start for part, start in zip(parts, starts, strict=False) if part.places is not None
    ]
    groups = [part.groups for part in parts if part.groups is not None]
    return Batch(
        inputs=torch.cat([part.inputs.flatten(1) for part in parts], 1)[:, None],
        places=torch.cat(places),
        counts=list(chain.from_iterable(part.counts for part in parts)),
        groups=list(chain.from_iterable(groups)) if groups else None,
        blocks=[block_of(part.inputs[1]) for part in parts],
    )


def flat_places(instances: Sequence[Instance], width: int) -> Tensor:
    """Return the places of all instances, one after another, in the flattened instances x width."""
    places = [row * width + at for row, instance in enumerate(instances) for at in instance.places]
    return torch.tensor(places, dtype=torch.int64)


def _pad_rows(rows: Sequence[Sequence[int]], width: int, fill: int) -> npt.NDArray[np.int64]:
    array = np.full((len(rows), width), fill, dtype=np.int64)
    for number, row in enumerate(rows):
        array[number, : len(row)] = row
    return array


def training_batches(
    inputs: int, batch_size: int, seed: int, epoch: int, classes: Sequence[int] | None = None
) -> list[list[int]]:
    """Return the batches of one epoch: lists of `batch_size` indices of inputs; the last may be shorter.

    They are a random permutation, cut into batches, as PyTorch's `RandomSampler` and `DataLoader` make them.
    With `classes` (one for each input), inputs of rare classes are repeated (`oversampled`). The result
    depends only on the arguments; the number of batches is the same in every epoch.
    """
    generator = np.random.default_rng([seed, epoch])
    chosen = np.arange(inputs) if classes is None else oversampled(classes, generator)
    order = generator.permutation(chosen).tolist()
    return [order[start : start + batch_size] for start in range(0, len(order), batch_size)]


def ends_of_parts(widths: Sequence[int], cost: int, step: int) -> list[int]:
    """Return where to cut inputs so that padding is cheap: the end of each part.

    `widths`: padded length of each input, in ascending order; a part has that of its last one. Of all ways to
    cut at multiples of `step`, the one with the fewest padded tokens, where each part counts for `cost` more.
    """
    ends = [*range(step, len(widths), step), len(widths)]
    begins, least, before = np.array([0, *ends]), np.zeros(len(ends) + 1), [0]
    for number, end in enumerate(ends, 1):
        tokens = least[:number] + (end - begins[:number]) * widths[end - 1]
        before.append(int(tokens.argmin()))
        least[number] = tokens[before[-1]] + cost
    chosen, number = list[int](), len(ends)
    while number:
        chosen.append(ends[number - 1])
        number = before[number]
    return chosen[::-1]


def oversampled(classes: Sequence[int], generator: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return indices into `classes` in which every class is as frequent as the most frequent one (shin2020
    section 5.5). Each input of a class occurs equally often; a remainder is filled with a random choice of
    the class's inputs."""
    known = np.asarray(classes)
    most = max(Counter(classes).values())
    chosen: list[npt.NDArray[np.int64]] = []
    for one in np.unique(known):
        members = np.flatnonzero(known == one)
        times, remainder = divmod(most, len(members))
        chosen += [np.tile(members, times), generator.permutation(members)[:remainder]]
    return np.concatenate(chosen)


def prediction_batches(lengths: Sequence[int], tokens: int) -> list[list[int]]:
    """Return batches in order of length, each of at most `tokens` padded tokens or of a single index."""
    batches: list[list[int]] = []
    for index in np.argsort(np.asarray(lengths), kind="stable").tolist():
        if not batches or (len(batches[-1]) + 1) * lengths[index] > tokens:
            batches.append([])
        batches[-1].append(index)
    return batches

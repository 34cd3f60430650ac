"""Inputs of an encoder: instances, and padded batches of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

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

    @property
    def lengths(self) -> list[int]:
        return [len(instance.ids) for instance in self.instances]


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Padded tensors of some instances.

    `ids`, `mask`, `segments`: instances x longest (int64; mask 1 for real tokens). `places`: the places of
    all instances, one after another, in the flattened instances x longest. `counts`: number of encodings of
    each instance after pooling. `groups`: lengths of the runs of `places` that are pooled, or None.
    """

    ids: torch.Tensor
    mask: torch.Tensor
    segments: torch.Tensor | None
    places: torch.Tensor
    counts: list[int]
    groups: list[int] | None


def collate(instances: Sequence[Instance], pad: int, device: torch.device) -> Batch:
    """Pad instances to the longest one; either all or none have segments and groups."""
    longest = max(len(instance.ids) for instance in instances)
    groups = [instance.groups for instance in instances if instance.groups is not None]
    segments = [instance.segments for instance in instances if instance.segments is not None]
    ids = [instance.ids for instance in instances]
    places = [row * longest + at for row, instance in enumerate(instances) for at in instance.places]
    units = groups or [instance.places for instance in instances]
    return Batch(
        ids=_pad_rows(ids, longest, pad, device),
        mask=_pad_rows([[1] * len(row) for row in ids], longest, 0, device),
        segments=_pad_rows(segments, longest, 0, device) if segments else None,
        places=to_device(torch.tensor(places, dtype=torch.int64), device),
        counts=[len(unit) for unit in units],
        groups=[length for lengths in groups for length in lengths] if groups else None,
    )


def _pad_rows(rows: Sequence[Sequence[int]], width: int, fill: int, device: torch.device) -> torch.Tensor:
    array = np.full((len(rows), width), fill, dtype=np.int64)
    for number, row in enumerate(rows):
        array[number, : len(row)] = row
    return to_device(torch.from_numpy(array), device)

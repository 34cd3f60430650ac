"""Which inputs are computed together: little padding, and the same choice for the same seed."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

POOL = 64
"""Most batches that are shuffled together before their inputs are sorted by length: enough for 95 % real
tokens on sentences of biomedical abstracts."""
POOLS = 4
"""Fewest pools of an epoch: were a small dataset one pool, its inputs would always meet the same others."""


def training_batches(
    lengths: Sequence[int], batch_size: int, seed: int, epoch: int, classes: Sequence[int] | None = None
) -> list[list[int]]:
    """Batches of one epoch, each `batch_size` indices into `lengths` (one of them may be smaller).

    Everything is shuffled, cut into at least `POOLS` pools of at most `POOL` batches, sorted by length inside
    each pool, and the batches are shuffled again. Where `classes` are given (one for each of `lengths`),
    inputs of rarer classes are there more than once (`oversampled`). A pure function of its arguments; there
    are ceil(epoch_size(...) / batch_size) batches.
    """
    generator = np.random.default_rng([seed, epoch])
    chosen = np.arange(len(lengths)) if classes is None else oversampled(classes, generator)
    order = generator.permutation(chosen)
    sizes = np.asarray(lengths)
    batches: list[list[int]] = []
    whole = len(order) // batch_size
    size = batch_size * min(POOL, max(1, whole // POOLS))
    for start in range(0, len(order), size):
        pool = order[start : start + size]
        pool = pool[np.argsort(sizes[pool], kind="stable")]
        # Cut anywhere, so that it isn't always the longest inputs of all that share the smaller batch.
        smaller = batch_size * int(generator.integers(len(pool) // batch_size + 1))
        rest = smaller + len(pool) % batch_size
        starts = [*range(0, smaller, batch_size), smaller, *range(rest, len(pool), batch_size)]
        batches += [part.tolist() for part in np.split(pool, starts[1:]) if len(part)]
    return [batches[index] for index in generator.permutation(len(batches))]


def epoch_size(inputs: int, classes: Sequence[int] | None) -> int:
    """How many inputs an epoch has."""
    if classes is None:
        return inputs
    counts = Counter(classes)
    return len(counts) * max(counts.values())


def oversampled(classes: Sequence[int], generator: np.random.Generator) -> npt.NDArray[np.int64]:
    """Indices into `classes`, with each class as often as the most frequent one (shin2020 section 5.5).

    Each input of a class is there equally often, but for the remainder, which is drawn: some of them
    once more.
    """
    known = np.asarray(classes)
    most = max(Counter(classes).values())
    chosen: list[npt.NDArray[np.int64]] = []
    for one in np.unique(known):
        members = np.flatnonzero(known == one)
        times, remainder = divmod(most, len(members))
        chosen += [np.tile(members, times), generator.permutation(members)[:remainder]]
    return np.concatenate(chosen)


def prediction_batches(lengths: Sequence[int], tokens: int) -> list[list[int]]:
    """Batches from the shortest to the longest, each of at most `tokens` padded tokens or one index."""
    batches: list[list[int]] = []
    for index in np.argsort(np.asarray(lengths), kind="stable").tolist():
        if not batches or (len(batches[-1]) + 1) * lengths[index] > tokens:
            batches.append([])
        batches[-1].append(index)
    return batches

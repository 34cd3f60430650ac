"""Batch sampling: little padding, and the same batches for the same seed."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

POOL = 64
"""Largest number of batches in a pool, whose inputs are sorted by length. With 64, about 95 % of the tokens
are real on sentences of biomedical abstracts."""
POOLS = 4
"""Smallest number of pools in an epoch: in a single one, the same inputs would always share a batch."""


def training_batches(
    lengths: Sequence[int], batch_size: int, seed: int, epoch: int, classes: Sequence[int] | None = None
) -> list[list[int]]:
    """Return the batches of one epoch: lists of `batch_size` indices into `lengths` (one list may be
    shorter).

    The inputs are shuffled, cut into at least `POOLS` pools of at most `POOL` batches and sorted by length
    inside each pool; then the batches are shuffled. With `classes` (one for each of `lengths`), inputs of
    rare classes are repeated (`oversampled`). The result depends only on the arguments; it has
    ceil(epoch_size(...) / batch_size) batches.
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
        # A random cut, so that the smaller batch does not always contain the longest inputs.
        smaller = batch_size * int(generator.integers(len(pool) // batch_size + 1))
        rest = smaller + len(pool) % batch_size
        starts = [*range(0, smaller, batch_size), smaller, *range(rest, len(pool), batch_size)]
        batches += [part.tolist() for part in np.split(pool, starts[1:]) if len(part)]
    return [batches[index] for index in generator.permutation(len(batches))]


def epoch_size(inputs: int, classes: Sequence[int] | None) -> int:
    """Return the number of inputs in an epoch."""
    if classes is None:
        return inputs
    counts = Counter(classes)
    return len(counts) * max(counts.values())


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

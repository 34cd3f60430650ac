"""Which inputs are computed together: little padding, and the same choice for the same seed."""

from collections.abc import Sequence

import numpy as np

POOL = 64
"""Batches that are shuffled together before their sentences are sorted by length: enough for 95 %
real tokens on sentences of biomedical abstracts, while an epoch still mixes anew each time."""


def training_batches(lengths: Sequence[int], batch_size: int, seed: int, epoch: int) -> list[list[int]]:
    """Batches of one epoch, each `batch_size` indices into `lengths` (the last of a pool may be smaller).

    Everything is shuffled, cut into pools of `POOL` batches, sorted by length inside each pool, and
    the batches are shuffled again. A pure function of its arguments; there are
    ceil(len(lengths) / batch_size) batches.
    """
    generator = np.random.default_rng([seed, epoch])
    order = generator.permutation(len(lengths))
    sizes = np.asarray(lengths)
    batches: list[list[int]] = []
    for start in range(0, len(order), batch_size * POOL):
        pool = order[start : start + batch_size * POOL]
        pool = pool[np.argsort(sizes[pool], kind="stable")]
        batches += [pool[at : at + batch_size].tolist() for at in range(0, len(pool), batch_size)]
    return [batches[index] for index in generator.permutation(len(batches))]


def prediction_batches(lengths: Sequence[int], tokens: int) -> list[list[int]]:
    """Batches from the shortest to the longest, each of at most `tokens` padded tokens or one index."""
    batches: list[list[int]] = []
    for index in np.argsort(np.asarray(lengths), kind="stable").tolist():
        if not batches or (len(batches[-1]) + 1) * lengths[index] > tokens:
            batches.append([])
        batches[-1].append(index)
    return batches

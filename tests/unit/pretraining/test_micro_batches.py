"""Micro-batches without padding hold every token once, and have one size."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pubmill.pretraining.instances import UNLABELLED, PackedBatch
from pubmill.pretraining.micro_batches import ROW_MULTIPLE, collate_flat, flat_micro_batches, flat_size
from pubmill.pretraining.unpadded import SequenceBounds

LENGTHS = np.array([4, 7, 3, 7])
LONGEST, PAD = 7, 0


def batch() -> tuple[PackedBatch, Any, Any]:
    total = int(LENGTHS.sum())
    ids = np.arange(100, 100 + total)
    labels = np.full(total, UNLABELLED)
    labels[[5, 12]] = ids[[5, 12]]
    inner = np.ones(total, bool)
    return PackedBatch(ids, ids % 2, inner, LENGTHS, np.array([0, 1, UNLABELLED, 1]), 0), ids + 50, labels


def test_a_micro_batch_has_the_tokens_of_its_sequences_then_padding() -> None:
    made, ids, labels = batch()
    flat = collate_flat(made, ids, labels, np.array([1, 2]), 22, LONGEST, PAD)
    part = flat.to(torch.device("cpu"), True)
    assert part.ids.tolist() == [[*range(154, 164), *[PAD] * 12]] and part.ids.dtype == torch.int32
    assert part.segments.tolist() == [[n % 2 for n in range(104, 114)] + [0] * 12]
    assert part.positions is not None and part.positions.tolist() == [[*range(7), *range(3), *[0] * 12]]
    assert isinstance(part.mask, SequenceBounds) and part.compiled
    assert part.mask.bounds.tolist() == [0, 7, 10, 17, 22] and part.mask.longest == LONGEST
    # token 5 is the second of sequence 1, token 12 the second of sequence 2
    more = ROW_MULTIPLE - 2
    assert part.rows.tolist() == [0, 7, 1, 8, *[21] * more]
    assert part.labels.tolist() == [105, 112, *[UNLABELLED] * more]
    assert part.pair_labels.tolist() == [1, UNLABELLED] and part.present.tolist() == list(range(10))
    assert {part.rows.dtype, part.labels.dtype, part.pair_labels.dtype} == {torch.int64}


@given(st.lists(st.integers(1, 20), min_size=1, max_size=40), st.integers(21, 60))
def test_every_sequence_is_in_one_micro_batch_and_padding_remains(lengths: list[int], size: int) -> None:
    counts, found = np.array(lengths), []
    for rows in flat_micro_batches(counts, size):
        assert 0 < counts[rows].sum() < size
        found += rows.tolist()
    assert found == list(range(len(lengths)))


@pytest.mark.parametrize(("sequences", "at_once"), [(2048, 512), (8192, 512), (100, 512), (3, 1), (40, 16)])
def test_micro_batches_of_a_step_are_filled_evenly(sequences: int, at_once: int) -> None:
    random = np.random.Generator(np.random.PCG64(1))
    chunks = np.minimum(random.integers(60, 140, 50_000), 126)
    instances: Any = SimpleNamespace(starts=np.concatenate([[0], np.cumsum(chunks)]), limit=126)
    size = flat_size(instances, sequences, at_once * 128, 128)
    assert 128 < size <= max(129, at_once * 128)
    lengths = chunks[:sequences] + 2
    parts = flat_micro_batches(lengths, size)
    padding = 1 - lengths.sum() / (size * len(parts))
    if sequences >= 2048:
        assert padding < 0.02

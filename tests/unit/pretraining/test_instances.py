"""Instances: every token once, no document runs into another unless it may, nothing but the step decides; and
micro-batches of them without padding."""

from collections.abc import Iterator
from itertools import pairwise
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pubmill.errors import PubmillError
from pubmill.pretraining import instances as module
from pubmill.pretraining.instances import UNLABELLED, Instances, PackedBatch, micro_batches
from pubmill.pretraining.micro_batches import ROW_MULTIPLE, collate_flat, flat_micro_batches, flat_size
from pubmill.pretraining.unpadded import SequenceBounds
from tests.unit.pretraining.toy_pretraining import changed

CLS, SEP = 2, 3
corpora = st.lists(
    st.lists(st.integers(1, 40), min_size=1, max_size=8), min_size=1, max_size=12
)  # documents of sentence lengths


def packed(documents: list[list[int]]) -> Any:
    """A corpus in which each token's id is its own number + 10."""
    lengths = [length for document in documents for length in document]
    sentences = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    counts = np.concatenate([[0], np.cumsum([len(document) for document in documents])]).astype(np.int64)
    return SimpleNamespace(
        ids=np.arange(sentences[-1]) + 10, sentences=sentences, documents=counts,
        special={"cls": CLS, "sep": SEP, "pad": 0, "unk": 1, "mask": 4},
    )  # fmt: skip


def sequences(batch: PackedBatch) -> list[list[int]]:
    return [part.tolist() for part in np.split(batch.ids, np.cumsum(batch.lengths)[:-1])]


@given(corpora, st.integers(2, 50))
def test_chunks_tile_documents_within_the_limit(documents: list[list[int]], limit: int) -> None:
    corpus = packed(documents)
    starts = module.chunk_starts(corpus.sentences, corpus.documents, limit)
    assert starts[0] == 0 and starts[-1] == len(corpus.ids)
    assert (np.diff(starts) > 0).all() and (np.diff(starts) <= limit).all()
    assert set(corpus.sentences[corpus.documents]) <= set(starts.tolist())  # no chunk crosses a document


def test_a_chunk_ends_at_a_sentence_unless_the_sentence_is_too_long() -> None:
    corpus = packed([[4, 4, 4], [25]])
    assert module.chunk_starts(corpus.sentences, corpus.documents, 10).tolist() == [0, 8, 12, 22, 32, 37]


def instances(
    corpus: Any, pairs: str, batch_size: int = 8, seed: int = 3, length: int = 24, sequences: str = "document"
) -> Instances:
    sizes: dict[str, Any] = {"sequence_length": length, "batch_size": batch_size, "seed": seed}
    objective = {"pairs": pairs, "sequences": sequences}
    return Instances(corpus, changed(objective=objective, architecture={"max_positions": 512}, **sizes))


def epoch(corpus: Any, pairs: str, length: int = 24, sequences: str = "document") -> PackedBatch:
    count = len(instances(corpus, pairs, 1, length=length, sequences=sequences))
    return instances(corpus, pairs, count, 7, length, sequences).batch(3)


def parts(batch: PackedBatch) -> Iterator[tuple[np.ndarray, np.ndarray, int]]:
    """The tokens of A and B of each sequence, and its label; the form is asserted on the way."""
    segments = np.split(batch.segments, np.cumsum(batch.lengths)[:-1])
    for ids, segment, label in zip(sequences(batch), segments, batch.pair_labels.tolist(), strict=True):
        assert ids[0] == CLS and ids[-1] == SEP and ids.count(CLS) == 1 and ids.count(SEP) <= 2
        end = ids.index(SEP)
        assert segment.tolist() == [0] * (end + 1) + [1] * (len(ids) - end - 1)
        a, b = np.array(ids[1:end]) - 10, np.array(ids[end + 1 : -1], dtype=int) - 10
        assert len(a) and (np.diff(a) == 1).all() and (np.diff(b) == 1).all()
        yield a, b, label


@given(corpora, st.integers(1, 9), st.integers(0, 5))
@settings(max_examples=60)
def test_batches_are_bert_pairs(documents: list[list[int]], batch_size: int, seed: int) -> None:
    corpus = packed(documents)
    tokens = np.diff(corpus.sentences[corpus.documents])
    document_of = np.repeat(np.arange(len(documents)), tokens)
    batch = instances(corpus, "next-sentence", batch_size, seed).batch(1)
    assert batch.lengths.max() <= 24 and len(batch.lengths) == batch_size
    for a, b, label in parts(batch):
        assert (len(b) == 0) == (label == UNLABELLED)
        if label == module.IS_NEXT:
            assert b[0] == a[-1] + 1 and b[0] in corpus.sentences
            assert document_of[b[-1]] == document_of[a[0]]
        if label == module.RANDOM:
            assert document_of[b[0]] != document_of[a[0]]


@given(corpora, st.sampled_from(["sentence-order", "unlabelled"]))
@settings(max_examples=120)
def test_two_parts_of_a_chunk(documents: list[list[int]], pairs: str) -> None:
    """In either order, with a label of it, or unlabelled in their own."""
    corpus = packed(documents)
    for a, b, label in parts(epoch(corpus, pairs)):
        assert label in (
            (module.IN_ORDER, module.SWAPPED) if len(b) and pairs == "sentence-order" else (UNLABELLED,)
        )
        if len(b):
            first, second = (b, a) if label == module.SWAPPED else (a, b)
            assert second[0] == first[-1] + 1 and second[0] in corpus.sentences
        else:  # a chunk without a start of a sentence inside it
            assert not np.isin(corpus.sentences, a[1:]).any()


@given(corpora, st.sampled_from(["next-sentence", "sentence-order", "unlabelled", "none", "full"]))
@settings(max_examples=100)
def test_an_epoch_shows_every_token_once_or_counts_it_as_cut(documents: list[list[int]], pairs: str) -> None:
    corpus = packed(documents)
    batch = epoch(corpus, "none", sequences="full") if pairs == "full" else epoch(corpus, pairs)
    shown = batch.ids[batch.inner]
    assert len(set(shown.tolist())) == len(shown)
    assert len(shown) + batch.cut == len(corpus.ids)
    assert batch.cut == 0 or pairs == "next-sentence"
    assert batch.lengths.max() <= 24
    assert np.array_equal(batch.inner, batch.ids >= 10)


@pytest.mark.parametrize(("pairs", "most"), [("next-sentence", 0.03), ("sentence-order", 0.0)])
def test_about_half_of_the_pairs_are_wrong_and_little_is_cut(pairs: str, most: float) -> None:
    """Of 2,560 pairs of long documents: random ones or swapped ones; the latter cut nothing."""
    random = np.random.Generator(np.random.PCG64(1))
    corpus = packed([random.integers(5, 45, size=10).tolist() for _ in range(2000)])
    made = instances(corpus, pairs, 64, length=128)
    batches = [made.batch(step) for step in range(40)]
    labels = np.concatenate([batch.pair_labels for batch in batches])
    assert abs((labels == 1).sum() / (labels != UNLABELLED).sum() - 0.5) < 0.04
    assert sum(batch.cut for batch in batches) <= most * sum(batch.inner.sum() for batch in batches)


@given(st.lists(st.integers(5, 128), min_size=1, max_size=40), st.integers(1, 9), st.integers(1, 4))
def test_processes_have_similar_shares_without_overlap(lengths: list[int], size: int, world: int) -> None:
    counts, found = np.array(lengths), []
    of_processes = module.shares(counts, world)
    for share in of_processes:
        assert share.tolist() == sorted(share)
        parts = micro_batches(counts[share], size)
        assert max(map(len, parts), default=0) <= size
        found += [number for part in parts for number in share[part].tolist()]
    assert sorted(found) == list(range(len(lengths)))
    assert max(map(len, of_processes)) - min(map(len, of_processes)) <= 1
    tokens = [int(counts[share].sum()) for share in of_processes]
    assert max(tokens) - min(tokens) <= max(lengths)


@pytest.mark.parametrize(("documents", "length"), [([], 24), ([[5, 5]], 4)])
def test_nothing_to_train_on_is_an_error(documents: list[list[int]], length: int) -> None:
    with pytest.raises(PubmillError, match=f"nothing to pretrain on: .* sequences of {length}"):
        instances(packed(documents), "next-sentence", length=length)


def in_order(corpus: Any, length: int) -> PackedBatch:
    made = instances(corpus, "none", length=length, sequences="full")
    return made.lay_out(np.arange(len(made)), module.generator(0, module.Stream.PAIRS))


def text(corpus: Any) -> list[int]:
    bounds = corpus.sentences[corpus.documents]
    documents = [corpus.ids[start:end].tolist() for start, end in pairwise(bounds)]
    return [symbol for document in documents for symbol in [*document, SEP]]


@given(corpora, st.integers(4, 60), st.sampled_from([1, 3, 256]))
@settings(max_examples=150)
def test_an_epoch_is_the_corpus_with_its_documents_parted(
    documents: list[list[int]], length: int, together: int
) -> None:
    corpus = packed(documents)
    with patch.object(module, "TOGETHER", together):
        batch = in_order(corpus, length)
    symbols, place = text(corpus), 0
    assert batch.lengths.sum() == len(batch.ids) and batch.lengths.max() <= length
    for ids in sequences(batch):
        assert ids[0] == CLS and ids[-1] == SEP and ids[1] >= 10
        # what closes a sequence is the end of a document too, where it stands there
        body = ids[1:] if symbols[place : place + len(ids) - 1] == ids[1:] else ids[1:-1]
        assert symbols[place : place + len(body)] == body
        place += len(body)
    assert place == len(symbols)
    assert np.array_equal(batch.inner, batch.ids >= 10)
    assert (batch.segments == 0).all() and (batch.pair_labels == UNLABELLED).all() and batch.cut == 0


@given(corpora, st.integers(4, 60))
@settings(max_examples=40)
def test_sentences_stay_whole_where_they_can(documents: list[list[int]], length: int) -> None:
    corpus = packed(documents)
    sentences = corpus.sentences
    size = dict(zip(sentences[:-1].tolist(), np.diff(sentences).tolist(), strict=True))
    limit = instances(corpus, "none", length=length, sequences="full").limit
    for ids in sequences(in_order(corpus, length)):
        tokens = [token - 10 for token in ids if token >= 10]
        begun = sentences[np.searchsorted(sentences, tokens[-1], side="right") - 1]
        ended = tokens[-1] + 1 in sentences
        assert ended or size[int(begun)] >= limit


def test_sequences_are_filled() -> None:
    random = np.random.Generator(np.random.PCG64(1))
    corpus = packed([random.integers(5, 45, size=3).tolist() for _ in range(600)])
    batch = in_order(corpus, 128)
    assert batch.lengths.mean() > 0.85 * 128  # documents alone would give 75
    assert (batch.ids == SEP).sum() > 600


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

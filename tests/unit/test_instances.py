"""Instances: every token once, no document runs into another, nothing but the step decides."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pubmill.errors import PubmillError
from pubmill.pretraining.instances import (
    IS_NEXT,
    RANDOM,
    UNLABELLED,
    Instances,
    chunk_starts,
    micro_batches,
)

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
        ids=np.arange(sentences[-1]) + 10,
        sentences=sentences,
        documents=counts,
        special={"cls": CLS, "sep": SEP, "pad": 0, "unk": 1, "mask": 4},
    )


def sequences(batch: Any) -> list[list[int]]:
    return [part.tolist() for part in np.split(batch.ids, np.cumsum(batch.lengths)[:-1])]


@given(corpora, st.integers(2, 50))
def test_chunks_tile_documents_within_the_limit(documents: list[list[int]], limit: int) -> None:
    corpus = packed(documents)
    starts = chunk_starts(corpus.sentences, corpus.documents, limit)
    assert starts[0] == 0 and starts[-1] == len(corpus.ids)
    assert (np.diff(starts) > 0).all() and (np.diff(starts) <= limit).all()
    assert set(corpus.sentences[corpus.documents]) <= set(starts.tolist())  # no chunk crosses a document


def test_a_chunk_ends_at_a_sentence_unless_the_sentence_is_too_long() -> None:
    corpus = packed([[4, 4, 4], [25]])
    assert chunk_starts(corpus.sentences, corpus.documents, 10).tolist() == [0, 8, 12, 22, 32, 37]


@given(corpora, st.integers(1, 9), st.integers(0, 5))
@settings(max_examples=60)
def test_batches_are_bert_pairs(documents: list[list[int]], batch_size: int, seed: int) -> None:
    corpus = packed(documents)
    instances = Instances(corpus, 24, batch_size, next_sentence=True, seed=seed)
    document_of = np.repeat(
        np.arange(len(documents)), np.diff(corpus.sentences[corpus.documents])
    )  # of each token
    batch = instances.batch(1)
    segments = np.split(batch.segments, np.cumsum(batch.lengths)[:-1])
    assert batch.lengths.max() <= 24 and len(batch.lengths) == batch_size
    for ids, segment, label in zip(sequences(batch), segments, batch.next_sentence.tolist(), strict=True):
        assert ids[0] == CLS and ids[-1] == SEP and ids.count(CLS) == 1
        assert ids.count(SEP) == (1 if label == UNLABELLED else 2)
        end = ids.index(SEP)
        assert segment.tolist() == [0] * (end + 1) + [1] * (len(ids) - end - 1)
        a, b = np.array(ids[1:end]) - 10, np.array(ids[end + 1 : -1], dtype=int) - 10
        assert (np.diff(a) == 1).all() and (np.diff(b) == 1).all()
        if label == IS_NEXT:
            assert b[0] == a[-1] + 1 and b[0] in corpus.sentences
            assert document_of[b[-1]] == document_of[a[0]]
        if label == RANDOM:
            assert document_of[b[0]] != document_of[a[0]]


@given(corpora, st.booleans())
@settings(max_examples=40)
def test_an_epoch_shows_every_token_once_or_counts_it_as_cut(documents: list[list[int]], pairs: bool) -> None:
    corpus = packed(documents)
    count = len(Instances(corpus, 24, 1, pairs, 7))
    batch = Instances(corpus, 24, count, pairs, 7).batch(3)  # a batch that is one epoch
    shown = batch.ids[batch.inner]
    assert len(set(shown.tolist())) == len(shown)
    assert len(shown) + batch.cut == len(corpus.ids)
    assert (batch.next_sentence == UNLABELLED).all() or pairs


def test_about_half_of_the_pairs_are_random_and_little_is_cut() -> None:
    random = np.random.Generator(np.random.PCG64(1))
    corpus = packed([random.integers(5, 45, size=10).tolist() for _ in range(2000)])
    batches = [Instances(corpus, 128, 64, True, 3).batch(step) for step in range(40)]
    labels = np.concatenate([batch.next_sentence for batch in batches])
    assert abs((labels == RANDOM).sum() / (labels != UNLABELLED).sum() - 0.5) < 0.04
    assert sum(batch.cut for batch in batches) < 0.03 * sum(batch.inner.sum() for batch in batches)


def test_a_batch_depends_on_seed_and_step_only() -> None:
    corpus = packed([[5, 9, 14, 3]] * 30)
    made = Instances(corpus, 24, 8, True, 3)
    late = made.batch(9)
    assert np.array_equal(late.ids, Instances(corpus, 24, 8, True, 3).batch(9).ids)
    assert not np.array_equal(late.ids, made.batch(8).ids)
    assert not np.array_equal(late.ids, Instances(corpus, 24, 8, True, 4).batch(9).ids)


@given(st.lists(st.integers(5, 128), min_size=1, max_size=40), st.integers(1, 9), st.integers(1, 4))
def test_processes_share_a_batch_without_overlap(lengths: list[int], size: int, world: int) -> None:
    parts = [part for rank in range(world) for part in micro_batches(np.array(lengths), size, rank, world)]
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(lengths)))
    assert max(len(part) for part in parts) <= size


def test_nothing_to_train_on_is_an_error() -> None:
    with pytest.raises(PubmillError, match="nothing to pretrain on"):
        Instances(packed([]), 24, 8, True, 1)

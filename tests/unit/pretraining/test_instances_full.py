"""Sequences that are filled across documents, as RoBERTa's: every token and every end of a document once."""

from itertools import pairwise
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pubmill.pretraining import instances as module
from pubmill.pretraining.instances import UNLABELLED, Instances, PackedBatch, full_starts, generator
from tests.unit.pretraining.test_instances import CLS, LONG, SEP, corpora, packed, sequences
from tests.unit.pretraining.toy_pretraining import changed


def instances(corpus: Any, length: int, batch_size: int = 8) -> Instances:
    objective = {"pairs": "none", "sequences": "full"}
    sizes = {"sequence_length": length, "batch_size": batch_size}
    return Instances(corpus, changed(objective=objective, architecture=LONG, **sizes))


def in_order(corpus: Any, length: int) -> PackedBatch:
    """The instances of an epoch as they lie in the corpus."""
    made = instances(corpus, length)
    return made.lay_out(np.arange(len(made)), generator(0, module.Stream.PAIRS))


def text(corpus: Any) -> list[int]:
    """The corpus with a separator after each document."""
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
def test_a_shuffled_epoch_has_every_token_once(documents: list[list[int]], length: int) -> None:
    corpus = packed(documents)
    batch = instances(corpus, length, len(instances(corpus, length))).batch(2)
    assert sorted(batch.ids[batch.inner].tolist()) == corpus.ids.tolist()


@given(corpora, st.integers(4, 60))
@settings(max_examples=40)
def test_sentences_stay_whole_where_they_can(documents: list[list[int]], length: int) -> None:
    corpus = packed(documents)
    sentences = corpus.sentences
    size = dict(zip(sentences[:-1].tolist(), np.diff(sentences).tolist(), strict=True))
    made = instances(corpus, length)
    for ids in sequences(in_order(corpus, length)):
        tokens = [token - 10 for token in ids if token >= 10]
        begun = sentences[np.searchsorted(sentences, tokens[-1], side="right") - 1]
        ended = tokens[-1] + 1 in sentences
        assert ended or size[int(begun)] >= made.limit


def test_sequences_are_filled() -> None:
    random = np.random.Generator(np.random.PCG64(1))
    corpus = packed([random.integers(5, 45, size=3).tolist() for _ in range(600)])
    batch = in_order(corpus, 128)
    assert batch.lengths.mean() > 0.85 * 128  # documents alone would give 75
    assert (batch.ids == SEP).sum() > 600


def test_chunks_begin_anew_from_time_to_time() -> None:
    """So that many can be cut at once."""
    corpus = packed([[3, 4]] * (2 * module.TOGETHER + 5))
    starts = full_starts(corpus.sentences, corpus.documents, 30)
    anew = [number * (3 + 4 + 1) for number in range(0, 2 * module.TOGETHER + 1, module.TOGETHER)]
    assert set(anew) <= set(starts.tolist())
    assert starts[-1] == 8 * (2 * module.TOGETHER + 5) and np.diff(starts).max() <= 31

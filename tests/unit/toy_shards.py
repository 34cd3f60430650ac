"""Packed tokens of documents in memory."""

from collections.abc import Iterable, Sequence

import numpy as np

from pubmill.pretraining.packed_tokens import TokenShard, id_dtype


def make_shard(documents: Iterable[Sequence[Sequence[int]]], vocab_size: int) -> TokenShard:
    """Put documents (lists of sentences, which are lists of ids) into a shard, leaving empty ones out."""
    ids: list[int] = []
    sentences: list[int] = []
    counts: list[int] = []
    empty_sentences = empty_documents = 0
    for document in documents:
        full = [sentence for sentence in document if sentence]
        empty_sentences += len(document) - len(full)
        if not full:
            empty_documents += 1
            continue
        counts.append(len(full))
        for sentence in full:
            sentences.append(len(sentence))
            ids.extend(sentence)
    return TokenShard(
        np.array(ids, id_dtype(vocab_size)),
        np.array(sentences, np.int64),
        np.array(counts, np.int64),
        empty_sentences,
        empty_documents,
    )

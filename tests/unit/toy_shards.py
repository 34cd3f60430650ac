"""Packed tokens of documents in memory."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from pubmill.pretraining.packed_tokens import PackedIndex, PackedTokens, PackedWriter, TokenShard, id_dtype
from pubmill.storage.files import writing_folder


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


def write_packed(
    folder: Path, shards: Iterable[TokenShard], vocab_size: int, special: dict[str, int]
) -> PackedIndex:
    """Write a packed folder from shards; return its index."""
    with writing_folder(folder) as temporary, PackedWriter(temporary, vocab_size, special) as writer:
        for shard in shards:
            writer.add(shard)
    return writer.index()


def document(packed: PackedTokens, number: int) -> list[list[int]]:
    """Return the sentences of one document, as lists of ids."""
    bounds = packed.sentences[packed.documents[number] : packed.documents[number + 1] + 1]
    return [packed.ids[start:end].tolist() for start, end in pairwise(bounds)]

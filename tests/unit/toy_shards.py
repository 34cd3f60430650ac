"""Packed tokens of documents in memory."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from pubmill.pretraining.packed_tokens import PackedIndex, PackedTokens, PackedWriter, TokenShard, id_dtype
from pubmill.storage.files import writing_folder


def make_shard(documents: Sequence[Sequence[Sequence[int]]], vocab_size: int) -> TokenShard:
    """Put documents (lists of sentences, which are lists of ids) into a shard."""
    sentences = [sentence for document in documents for sentence in document]
    ids = np.array([number for sentence in sentences for number in sentence], id_dtype(vocab_size))
    lengths = np.array([*map(len, sentences)], np.int64), np.array([*map(len, documents)], np.int64)
    return TokenShard(ids, *lengths)


def write_packed(
    folder: Path, shards: Iterable[TokenShard], vocab_size: int, special: dict[str, int]
) -> PackedIndex:
    """Write a packed folder from shards; return its index."""
    with writing_folder(folder) as temporary, PackedWriter(temporary, vocab_size, special) as writer:
        for shard in shards:
            writer.add(shard)
    return writer.index()


def document(packed: PackedTokens, number: int) -> list[list[int]]:
    bounds = packed.sentences[packed.documents[number] : packed.documents[number + 1] + 1]
    return [packed.ids[start:end].tolist() for start, end in pairwise(bounds)]

"""Packed tokens of documents in memory."""

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from pubmill.pretraining.packed_tokens import PackedIndex, PackedTokens, PackedWriter, TokenShard, id_dtype
from pubmill.pretraining.packing import pack_documents
from pubmill.storage.files import writing_folder


def make_shard(documents: Iterable[Any], vocab_size: int) -> TokenShard:
    """Put documents (lists of sentences, which are lists of ids) into a shard, leaving empty ones out."""
    dtype = id_dtype(vocab_size)
    encoder: Any = SimpleNamespace(dtype=dtype, encode=lambda ids: np.array(ids, dtype).tobytes())
    return pack_documents(documents, list, encoder)


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

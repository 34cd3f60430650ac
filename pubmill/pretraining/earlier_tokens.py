"""Packed tokens of corpus parts that have not changed since: they are copied and not encoded again.

`parts.json` in a folder of packed tokens says what it was packed with, and how much of it each part gave:
`{"made_with": [...], "parts": [{"sha256", "trained", "held_out"}]}`.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from pubmill.errors import PubmillError
from pubmill.pretraining.packed_tokens import HELD_OUT, PackedTokens, TokenShard
from pubmill.storage.files import read_json, sealed, write_json
from pubmill.storage.result_paths import PACKED_PARTS

Shards = tuple[TokenShard, TokenShard]
"""Training documents and held-out documents of a part."""


class PackedSize(TypedDict):
    """Size of a part's shard; the last two are counts of what was left out."""

    tokens: int
    sentences: int
    documents: int
    empty_sentences: int
    empty_documents: int


class PackedPart(TypedDict):
    """A part of the corpus in a packed folder."""

    sha256: str
    trained: PackedSize
    held_out: PackedSize


def packed_part(digest: str, shards: Shards) -> PackedPart:
    """Return the entry of a part with this SHA-256."""
    trained, held_out = map(_size, shards)
    return {"sha256": digest, "trained": trained, "held_out": held_out}


def _size(shard: TokenShard) -> PackedSize:
    return {
        "tokens": len(shard.ids),
        "sentences": len(shard.sentences),
        "documents": len(shard.documents),
        "empty_sentences": shard.empty_sentences,
        "empty_documents": shard.empty_documents,
    }


def write_parts(folder: Path, made_with: Sequence[str], parts: Sequence[PackedPart]) -> None:
    """Write `parts.json`."""
    write_json(folder / PACKED_PARTS, sealed({"made_with": list(made_with), "parts": list(parts)}))


def earlier_shards(folder: Path, made_with: Sequence[str]) -> Mapping[str, Shards]:
    """Return the shards in a packed folder by the SHA-256 of their parts; their arrays stay on disk.

    Empty if the folder is not there, is damaged (all files are compared with their digests), or was packed
    with something else.
    """
    try:
        record = read_json(folder / PACKED_PARTS) if (folder / PACKED_PARTS).is_file() else {}
        if record.get("made_with") != list(made_with):
            return {}
        parts: list[PackedPart] = record["parts"]
        trained = _shards(folder, [part["trained"] for part in parts])
        held_out = _shards(folder / HELD_OUT, [part["held_out"] for part in parts])
    except PubmillError:  # damaged, and about to be replaced
        return {}
    names = [part["sha256"] for part in parts]
    return dict(zip(names, zip(trained, held_out, strict=True), strict=True))


def _shards(folder: Path, sizes: Sequence[PackedSize]) -> list[TokenShard]:
    packed = PackedTokens(folder)
    packed.verify()
    ids = _split(packed.ids, [size["tokens"] for size in sizes])
    sentences = _split(np.diff(packed.sentences), [size["sentences"] for size in sizes])
    documents = _split(np.diff(packed.documents), [size["documents"] for size in sizes])
    return [
        TokenShard(*arrays, size["empty_sentences"], size["empty_documents"])
        for arrays, size in zip(zip(ids, sentences, documents, strict=True), sizes, strict=True)
    ]


def _split(array: NDArray[Any], lengths: Sequence[int]) -> list[NDArray[Any]]:
    return np.split(array, [*accumulate(lengths)][:-1])

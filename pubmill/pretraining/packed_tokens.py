"""Packed tokens: a corpus as one array of ids, with the bounds of its sentences and documents.

The folder holds

    ids.bin         token ids, little-endian uint16 (uint32 where the vocabulary needs it), no special tokens
    sentences.npy   int64, S + 1: sentence s is ids[sentences[s] : sentences[s + 1]]
    documents.npy   int64, D + 1: document d is the sentences documents[d] .. documents[d + 1] - 1
    index.json      counts, dtype, vocabulary size, ids of the special tokens, SHA-256 of the files above;
                    written last
    held-out/       the same files for documents that are not trained on, if there are any
    parts.json      numbers of tokens, sentences and documents of each part of the corpus (`packing`)

No sentence and no document is empty. Needs numpy only: pretraining reads it where nothing else is installed.
"""

import hashlib
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, NotRequired, Self, TypedDict

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from pubmill.errors import PubmillError
from pubmill.storage.files import read_json, sealed, sha256, write_json
from pubmill.storage.result_paths import PACKED_PARTS

HELD_OUT = "held-out"
FILES = ("ids.bin", "sentences.npy", "documents.npy")
SPECIAL = ("pad", "unk", "cls", "sep", "mask")
FINGERPRINTED = 2**19  # Ids at either end: 1 MiB at 16 bits.

Ids = NDArray[Any]
Offsets = NDArray[np.int64]


def id_dtype(vocab_size: int) -> np.dtype[Any]:
    """Return the smaller of uint16 and uint32 that can hold every id of the vocabulary."""
    return np.dtype("<u2" if vocab_size <= 2**16 else "<u4")


@dataclass(frozen=True)
class TokenShard:
    """Documents to be added to a packed folder. `ids`: all their tokens; `sentences`: tokens of each
    sentence; `documents`: sentences of each document. The last two fields count sentences and documents that
    were left out because they had no tokens."""

    ids: Ids
    sentences: Offsets
    documents: Offsets
    empty_sentences: int = 0
    empty_documents: int = 0


class _OffsetsWriter:
    """Write running sums of lengths to a growing .npy file; at the end, `complete` rewrites its header."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.count, self.end = file, 1, 0
        self.complete()
        self.file.write(np.zeros(1, "<i8").tobytes())

    def add(self, lengths: Offsets) -> None:
        offsets = np.cumsum(lengths, dtype=np.int64) + self.end
        self.file.write(offsets.astype("<i8").tobytes())
        self.count += len(offsets)
        self.end += int(lengths.sum())

    def complete(self) -> None:
        # numpy leaves room in the header for a longer first axis, so that it can be rewritten in place.
        self.file.seek(0)
        header = {"descr": "<i8", "fortran_order": False, "shape": (self.count,)}
        npy.write_array_header_1_0(self.file, header)


class PackedSize(TypedDict):
    """Size of packed documents; the last two are counts of what was left out."""

    tokens: int
    sentences: int
    documents: int
    empty_sentences: int
    empty_documents: int


class PackedIndex(PackedSize):
    """Content of index.json; `files`: name -> SHA-256."""

    dtype: str
    vocab_size: int
    special: dict[str, int]
    files: NotRequired[dict[str, str]]


class PackedWriter:
    """Write shards, one in memory at a time, as a packed folder; the index is written last. `special`: ids of
    the tokens named in `SPECIAL`. Renaming the finished folder is the caller's task
    (`pubmill.storage.files.writing_folder`)."""

    def __init__(self, folder: Path, vocab_size: int, special: dict[str, int]) -> None:
        if set(special) != set(SPECIAL):
            raise PubmillError(f"{folder}: the special tokens {SPECIAL} are needed, got {sorted(special)}")
        folder.mkdir(exist_ok=True)
        self.folder, self.vocab_size, self.special = folder, vocab_size, special
        self.dtype = id_dtype(vocab_size)
        self.empty_sentences = self.empty_documents = 0
        self._files = ExitStack()
        self._ids, *offsets = (self._files.enter_context((folder / name).open("wb")) for name in FILES)
        self._sentences, self._documents = map(_OffsetsWriter, offsets)

    def add(self, shard: TokenShard) -> None:
        if len(shard.ids) != shard.sentences.sum() or len(shard.sentences) != shard.documents.sum():
            raise PubmillError(f"{self.folder}: a shard's lengths and ids do not fit together")
        if len(shard.ids) and (largest := int(shard.ids.max())) >= self.vocab_size:
            raise PubmillError(f"{self.folder}: id {largest} is outside the vocabulary of {self.vocab_size}")
        self._ids.write(shard.ids.astype(self.dtype, copy=False).tobytes())
        self._sentences.add(shard.sentences)
        self._documents.add(shard.documents)
        self.empty_sentences += shard.empty_sentences
        self.empty_documents += shard.empty_documents

    def index(self) -> PackedIndex:
        """Return the content of index.json, without the files' digests."""
        return {
            "tokens": self._sentences.end,
            "sentences": self._documents.end,
            "documents": self._documents.count - 1,
            "empty_sentences": self.empty_sentences,
            "empty_documents": self.empty_documents,
            "dtype": self.dtype.name,
            "vocab_size": self.vocab_size,
            "special": self.special,
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._files:
            if error is None:
                self._sentences.complete()
                self._documents.complete()
        if error is None:
            digests = {"files": {name: sha256(self.folder / name) for name in FILES}}
            write_json(self.folder / "index.json", sealed(self.index() | digests))


class PackedTokens:
    """A packed folder, memory-mapped: nothing is read before it is used. `ids` (n_tokens), `sentences`
    (n_sentences + 1) and `documents` (n_documents + 1) are read-only arrays, as described in this module;
    `special` maps pad, unk, cls, sep and mask to ids. Raises a `PubmillError` for an incomplete folder."""

    def __init__(self, folder: Path) -> None:
        if not (folder / "index.json").is_file():
            raise PubmillError(f"{folder}: no index.json, so these packed tokens are not whole; pack again")
        self.folder = folder
        self.index: PackedIndex = read_json(folder / "index.json")
        try:
            self.n_tokens = int(self.index["tokens"])
            self.n_sentences = int(self.index["sentences"])
            self.n_documents = int(self.index["documents"])
            self.vocab_size = int(self.index["vocab_size"])
            self.special: dict[str, int] = {name: int(self.index["special"][name]) for name in SPECIAL}
        except KeyError as error:
            raise PubmillError(f"{folder / 'index.json'} lacks {error}; pack again") from None
        self.ids: Ids = self._map_ids()
        self.sentences: Offsets = self._map_offsets("sentences.npy", self.n_sentences, self.n_tokens)
        self.documents: Offsets = self._map_offsets("documents.npy", self.n_documents, self.n_sentences)

    def verify(self) -> None:
        """Read all packed files; raise a `PubmillError` if they disagree with the index. Folders packed by
        pubmill 0.1 have no digests and are not read."""
        for name, digest in self.index.get("files", {}).items():
            if sha256(self.folder / name) != digest:
                fault = "is damaged: its SHA-256 is not that of index.json; pack again"
                raise PubmillError(f"{self.folder / name} {fault}")

    def check_parts(self) -> None:
        """Raise a `PubmillError` if there are not as many tokens, or held-out tokens, as `parts.json` counts:
        they are of another folder, or the two were exchanged."""
        parts = self.folder / PACKED_PARTS
        if not parts.is_file():
            return
        counted = read_json(parts)["parts"]
        for side, folder in (("trained", self.folder), ("held_out", self.folder / HELD_OUT)):
            index = read_json(folder / "index.json")
            for unit in ("tokens", "sentences", "documents"):
                if index[unit] != (count := sum(part[side][unit] for part in counted)):
                    fault = f"{index[unit]} {unit}, but {parts} counts {count}"
                    raise PubmillError(f"{folder}: {fault}; pack again")

    def _map_ids(self) -> Ids:
        path, dtype = self.folder / "ids.bin", id_dtype(self.vocab_size)
        expected = self.n_tokens * dtype.itemsize
        found = path.stat().st_size if path.is_file() else None
        if found != expected or dtype.name != self.index.get("dtype"):
            wanted = f"{expected} bytes of {dtype.name}"
            raise PubmillError(f"{path}: {wanted} expected, found {found}; pack again")
        return np.memmap(path, dtype, "r") if expected else np.zeros(0, dtype)

    def _map_offsets(self, name: str, count: int, end: int) -> Offsets:
        path = self.folder / name
        try:
            offsets: Offsets = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as error:
            raise PubmillError(f"{path}: not readable: {error}; pack again") from None
        if offsets.shape != (count + 1,) or offsets[0] != 0 or offsets[-1] != end:
            raise PubmillError(f"{path}: {count + 1} offsets up to {end} expected; pack again")
        return offsets

    def fingerprint(self) -> str:
        """Return a SHA-256 that identifies this corpus without reading all its ids (10 GB for PubMed).

        It covers index.json (which has the size of ids.bin), sentences.npy, documents.npy and both ends of
        ids.bin. That suffices: the sequence of sentence lengths changes wherever documents are added,
        removed, moved or split differently. Other pieces of the same lengths mean another vocabulary, which
        has its own fingerprint.
        """
        digest = hashlib.sha256()
        for name in ("index.json", "sentences.npy", "documents.npy"):
            digest.update(sha256(self.folder / name).encode())
        for ids in (self.ids[:FINGERPRINTED], self.ids[-FINGERPRINTED:]):
            digest.update(ids.tobytes())
        return digest.hexdigest()

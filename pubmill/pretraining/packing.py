"""Packing of corpus parts into tokens: sentences by Punkt, ids by a vocabulary of any kind.

Parts are packed in parallel and written in order, so the bytes do not depend on the number of processes.
Those that have not changed since are copied and not encoded again: `parts.json` in a folder of packed tokens
says what it was packed with, and how much of it each part gave:
`{"made_with": [...], "parts": [{"sha256", "trained", "held_out"}]}`.
"""

import hashlib
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import accumulate, islice
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
import tokenizers
from numpy.typing import NDArray

from pubmill.errors import PubmillError
from pubmill.examples.sentences import SentenceSplitter
from pubmill.examples.vocab_tokenizers import load_tokenizer
from pubmill.hardware.process_limits import cores
from pubmill.messages.progress import with_counts
from pubmill.pretraining.encoding import Encoder, make_encoder, special_ids
from pubmill.pretraining.packed_tokens import HELD_OUT, PackedSize, PackedTokens, PackedWriter, TokenShard
from pubmill.recipes.pretraining import PackingRecipe
from pubmill.recipes.reading import as_json
from pubmill.storage.files import read_json, sealed, sha256, write_json, writing_folder
from pubmill.storage.parquet import read_texts
from pubmill.storage.result_paths import PACKED_PARTS

Shards = tuple[TokenShard, TokenShard]
"""Training documents and held-out documents of a part."""
SMALL_CORPUS = 10_000_000  # bytes of Parquet


class PackedPart(TypedDict):
    """A part of the corpus in a packed folder."""

    sha256: str
    trained: PackedSize
    held_out: PackedSize


def _size(shard: TokenShard) -> PackedSize:
    return {
        "tokens": len(shard.ids),
        "sentences": len(shard.sentences),
        "documents": len(shard.documents),
        "empty_sentences": shard.empty_sentences,
        "empty_documents": shard.empty_documents,
    }


def earlier_shards(folder: Path, made_with: Sequence[str]) -> Mapping[str, Shards]:
    """Return the shards in a packed folder by the SHA-256 of their parts; their arrays stay on disk. Empty if
    the folder is not there, is damaged (digests of all files), or was packed with something else."""
    try:
        record = read_json(folder / PACKED_PARTS) if (folder / PACKED_PARTS).is_file() else {}
        if record.get("made_with") != list(made_with):
            return {}
        parts: list[PackedPart] = record["parts"]
        trained = _shards(folder, [part["trained"] for part in parts])
        held_out = _shards(folder / HELD_OUT, [part["held_out"] for part in parts])
    except PubmillError:  # damaged, and about to be replaced
        return {}
    shards = zip(parts, trained, held_out, strict=True)
    return {part["sha256"]: (own, rest) for part, own, rest in shards}


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


def is_held_out(name: str, share: float) -> bool:
    """Return whether a document is held out. Only its id decides, so that recipes are compared on the same
    documents, whatever their vocabulary or corpus."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest()) < share * 2**64


def apart(documents: Iterable[tuple[str, str]], share: float, rest: list[str]) -> Iterator[str]:
    """Yield the training texts; append held-out ones to `rest`."""
    for name, text in documents:
        if is_held_out(name, share):
            rest.append(text)
        else:
            yield text


def pack_documents(texts: Iterable[str], split: Callable[[str], list[str]], encoder: Encoder) -> TokenShard:
    """Split and encode documents; sentences and documents without tokens are left out and counted."""
    width = encoder.dtype.itemsize
    ids, sentences, documents = list[bytes](), list[int](), list[int]()
    empty_sentences = empty_documents = 0
    for text in texts:
        encoded = [encoder.encode(sentence) for sentence in split(text)]
        full = [sentence for sentence in encoded if sentence]
        empty_sentences += len(encoded) - len(full)
        if not full:
            empty_documents += 1
            continue
        ids.extend(full)
        sentences.extend(len(sentence) // width for sentence in full)
        documents.append(len(full))
    return TokenShard(
        np.frombuffer(b"".join(ids), encoder.dtype),
        np.array(sentences, np.int64),
        np.array(documents, np.int64),
        empty_sentences,
        empty_documents,
    )


def _leave_after(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)


class _Worker:
    """Objects that a process needs to pack parts; made once per process."""

    current: "_Worker"

    def __init__(self, vocab: Path, punkt: Path) -> None:
        self.split, self.encoder = SentenceSplitter(punkt).split, make_encoder(load_tokenizer(vocab))

    def pack(self, part: Path, recipe: "PackingRecipe") -> Shards:
        """Training documents and held-out documents."""
        rest: list[str] = []
        texts = apart(read_texts([part], recipe.title), recipe.held_out, rest)
        trained = pack_documents(texts, self.split, self.encoder)
        return trained, pack_documents(rest, self.split, self.encoder)

    @staticmethod
    def start(vocab: Path, punkt: Path) -> None:
        """Initialise a process so that it ends with its parent, even if the parent is killed."""
        parent = multiprocessing.parent_process()
        if parent is not None:
            threading.Thread(target=_leave_after, args=[parent], daemon=True).start()
        _Worker.current = _Worker(vocab, punkt)

    @staticmethod
    def run(part: Path, recipe: "PackingRecipe") -> Shards:
        return _Worker.current.pack(part, recipe)


def useful_processes(parts: list[Path]) -> int:
    """Return the number of processes: this job's cores, or one for a corpus too small to gain from more."""
    if sum(part.stat().st_size for part in parts if part.is_file()) < SMALL_CORPUS:
        return 1
    return cores()


def pack_parts(
    recipe: PackingRecipe, parts: list[Path], vocab: Path, punkt: Path, processes: int
) -> Iterator[Shards]:
    """Pack parts with `processes` at a time; yield the results in order."""
    if processes <= 1 or len(parts) <= 1:
        worker = _Worker(vocab, punkt)
        yield from (worker.pack(part, recipe) for part in parts)
        return
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(min(processes, len(parts)), context, _Worker.start, (vocab, punkt)) as pool:
            rest = (pool.submit(_Worker.run, part, recipe) for part in parts)
            waiting = list(islice(rest, 2 * processes))  # More would fill the memory.
            while waiting:
                yield waiting.pop(0).result()
                waiting.extend(islice(rest, 1))
    except BrokenProcessPool:
        raise PubmillError(
            "a packing process was killed, most likely because memory ran out; run again with fewer processes"
        ) from None


def pack(
    recipe: PackingRecipe,
    parts: list[Path],
    vocab: Path,
    punkt: Path,
    output: Path,
    processes: int = 1,
    version: str = "",
) -> dict[str, Any]:
    """Pack corpus parts into the folder `output` (see `packed_tokens`); return its index, with that of the
    held-out documents, and the number of parts that were `encoded`. Tokens of parts that have not changed are
    taken from the folder, if it was packed with the same recipe, vocabulary, Punkt and `version`."""
    tokenizer = load_tokenizer(vocab)
    form = tokenizer.get_vocab_size(), special_ids(tokenizer, vocab)
    inputs = sha256(vocab / "tokenizer.json"), sha256(punkt)
    made_with = [version, tokenizers.__version__, as_json(recipe), *inputs]
    known, digests = earlier_shards(output, made_with), [sha256(part) for part in parts]
    changed = [part for part, digest in zip(parts, digests, strict=True) if digest not in known]
    with (
        writing_folder(output) as temporary,
        PackedWriter(temporary, *form) as trained,
        PackedWriter(temporary / HELD_OUT, *form) as held_out,
    ):
        encoded = pack_parts(recipe, changed, vocab, punkt, processes)
        packed = (known.get(digest) or next(encoded) for digest in digests)
        written = list[PackedPart]()
        counted = with_counts(packed, "parts packed", len(parts))
        for digest, (shard, rest) in zip(digests, counted, strict=True):
            trained.add(shard)
            held_out.add(rest)
            written.append({"sha256": digest, "trained": _size(shard), "held_out": _size(rest)})
        write_json(temporary / PACKED_PARTS, sealed({"made_with": made_with, "parts": written}))
    return trained.index() | {HELD_OUT: held_out.index(), "encoded": len(changed)}

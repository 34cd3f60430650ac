"""Parquet files with checksums, the only writer and reader of Parquet in the package, and parts of corpora.

Pages carry the checksums of the format. In addition, a SHA-256 of the rest of the file precedes the footer,
where no Parquet reader looks, because a flipped bit in a page's header or in the footer also changes data.
It is compared before a file is read by DuckDB or Arrow. Files of pubmill 0.1 have neither checksum and are
read without.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from pubmill.errors import PubmillError
from pubmill.storage.files import REMAKE, make_private
from pubmill.storage.privacy import CREDENTIALED, PUBLIC, known_class, strictest
from pubmill.storage.result_paths import RELATIVE, part_name, shard_name

MARK = b"pubmill sha256 "
SEALED = len(MARK) + 64
BLOCK = 1 << 20
MAGIC = b"PAR1"  # begins and ends every file
ENDING = 8  # the footer's length and PAR1
# str.split breaks words at these control characters; BERT's normaliser deletes them: a\x1cb becomes ab
_DELETED = re.compile("[\x0b\x0c\x1c-\x1f\x85]")


@contextmanager
def parquet_writer(
    path: Path, schema: pa.Schema, private: bool = False, **options: Any
) -> Iterator[pq.ParquetWriter]:
    """Yield a writer of a new file and seal the file at the end; `options` are those of Arrow's writer. A
    `private` file is labelled, and only its owner may read it, from its first byte on."""
    if private:
        make_private(path)
    with pq.ParquetWriter(path, schema, compression="zstd", write_page_checksum=True, **options) as writer:
        if private:
            writer.add_key_value_metadata({"access": CREDENTIALED})
        yield writer
    seal(path)


def open_parquet(path: Path) -> pq.ParquetFile:
    """Verify a file and open it with Arrow, which raises its own errors (also `OSError`) for others."""
    return pq.ParquetFile(verified(path), page_checksum_verification=True)


def shard_fault(path: Path, file: pq.ParquetFile | None = None) -> str | None:
    """Return the fault of a shard below `parsed/` that was made from a file or source of another name, as
    after two shards were exchanged; None if there is none. Of what is no Parquet, it raises Arrow's error.
    `file`: the shard, if it is open."""
    if path.parent.parent.name != Path(RELATIVE.parsed()).name:
        return None
    metadata = (file or open_parquet(path)).metadata.metadata or {}
    source, file = (metadata.get(key, b"").decode() for key in (b"source", b"file"))
    if (source, shard_name(file)) == (path.parent.name, path.name.removesuffix(path.suffix)):
        return None
    return f"it is the shard of {file} of {source}, which its path contradicts"


def seal(path: Path) -> None:
    """Insert the digest of a finished file before its footer."""
    with path.open("r+b") as file:
        pages = _find_footer(file)
        footer = file.read()
        file.seek(0)
        digest = hashlib.sha256()
        _hash_bytes(digest, file, pages)
        digest.update(footer)
        file.seek(pages)
        file.write(MARK + digest.hexdigest().encode() + footer)


def verified(path: Path) -> Path:
    """Return the path of a file that matches its digest or has none; else raise a `PubmillError`. Each
    process reads a file only once for this, unless the file changes."""
    if path.is_file():
        state = path.stat()
        if fault := parquet_fault(path, state.st_mtime_ns, state.st_size):
            raise PubmillError(f"{path} is damaged: {fault}. {REMAKE}")
    return path


def all_verified(paths: Sequence[Path]) -> list[str]:
    """Return the verified names of files for DuckDB, which compares no digests itself (see `verified`)."""
    with ThreadPoolExecutor() as pool:
        return [str(path) for path in pool.map(verified, paths)]


@cache
def parquet_fault(path: Path, changed: int, size: int) -> str | None:
    """Return what is wrong with a file: None if it agrees with its digest, "" if it has no digest."""
    with path.open("rb") as file:
        whole = size > 2 * len(MAGIC) + 4 and file.read(len(MAGIC)) == MAGIC
        footer_at = _find_footer(file)
        if not whole or footer_at < len(MAGIC) or not (footer := file.read()).endswith(MAGIC):
            return "it is no whole Parquet file"
        start = footer_at - SEALED
        file.seek(max(0, start))
        stated = file.read(SEALED)
        if start < 0 or not stated.startswith(MARK):
            return ""
        digest = hashlib.sha256()
        file.seek(0)
        _hash_bytes(digest, file, start)
        digest.update(footer)
        return None if stated == MARK + digest.hexdigest().encode() else "it does not agree with its SHA-256"


def _find_footer(file: BinaryIO) -> int:
    """Return the offset of the footer and seek to it; the offset is negative if there is no footer."""
    size = file.seek(0, 2)
    file.seek(max(0, size - ENDING))
    ending = file.read()
    start = size - ENDING - int.from_bytes(ending[:4], "little")
    file.seek(max(0, start))
    return start


def _hash_bytes(digest: Any, file: BinaryIO, size: int) -> None:
    while block := file.read(min(size, BLOCK)):
        digest.update(block)
        size -= len(block)


def part_files(folder: Path, count: int) -> list[Path]:
    """Return the paths of the parts of the corpus in `folder`, in order. The caller states their number,
    because a search could find an old part of a corpus that has lost a shard. Commands state it rather than
    each path, because the paths of a whole baseline would exceed the length limit of a shell command."""
    return [folder / part_name(number) for number in range(count)]


def access_of_parts(parts: Iterable[Path]) -> str:
    """Return the strictest access class in the metadata of Parquet files; public if none has a class."""
    classes = []
    for part in parts:
        try:
            metadata = pq.read_metadata(verified(part)).metadata or {}
        except (pa.ArrowException, OSError) as error:
            raise PubmillError(
                f"{part}: not readable as Parquet ({error}); delete it and make it again"
            ) from None
        classes.append(access_in(metadata, part))
    return strictest(classes)


def access_in(metadata: Mapping[bytes, bytes], part: Path) -> str:
    """Return the access class in the metadata of a Parquet file; public if they have none."""
    named = metadata.get(b"access", PUBLIC.encode()).decode("utf-8", "replace")
    is_private = metadata.get(b"private") == b"yes"  # the key of parsed shards
    return CREDENTIALED if is_private else known_class(named, part)


def read_texts(parts: Iterable[Path], title: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the ids and texts of the documents of corpus parts, in order, holding only a few in memory. With
    `title`, a document's title precedes its text on a line of its own."""
    columns = ["id", "title", "text"] if title else ["id", "text"]
    for part in parts:
        try:
            with open_parquet(part) as file:
                for batch in file.iter_batches(1000, columns=columns):
                    rows = zip(*batch.to_pydict().values(), strict=True)
                    yield from ((name, "\n".join(texts)) for name, *texts in rows)
        except (pa.ArrowException, OSError, TypeError, KeyError) as error:
            raise PubmillError(f"{part}: no readable corpus part with columns {columns}: {error}") from None


def split_words(text: str) -> list[str]:
    """Split a text at white space, which no token of a BERT vocabulary ever spans."""
    return _DELETED.sub("", text).split()

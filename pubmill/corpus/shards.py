"""Parsed shards: the common form of all sources before documents are selected.

A shard is one Parquet file (zstd) per source file, in row groups of bounded size, so that the memory for
writing and reading does not depend on the size of the source file. `position` is the row's number.
"""

import re
from array import array
from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass
from itertools import accumulate, chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pubmill.errors import PubmillError
from pubmill.messages.progress import with_counts
from pubmill.storage.files import REMAKE, writing
from pubmill.storage.parquet import access_in, open_parquet, parquet_writer, shard_fault
from pubmill.storage.privacy import PUBLIC

_SECTIONS = pa.list_(pa.struct([("label", pa.string()), ("text", pa.string())]))
SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("version", pa.int32()),
        ("order", pa.int64()),
        ("position", pa.int32()),
        ("pmid", pa.string()),
        ("date", pa.string()),
        ("published", pa.string()),
        ("languages", pa.list_(pa.string())),
        ("types", pa.list_(pa.string())),
        ("licence", pa.string()),
        ("title", pa.string()),
        ("sections", _SECTIONS),
        ("body", _SECTIONS),
        ("flags", pa.list_(pa.string())),
        ("corrections", pa.list_(pa.struct([("kind", pa.string()), ("pmid", pa.string())]))),
        ("deleted", pa.bool_()),
    ]
)
PAIRED = ("sections", "body", "corrections")
"""Columns that contain lists of pairs of texts."""
ROWS_PER_GROUP = 2048
CHARACTERS_PER_GROUP = 8_000_000

PMID_DIGITS, VERSION_DIGITS = 18, 9
"""Most digits of a PMID (8 in 2026) and of a version, which shards store in 32 bits."""
UNREADABLE = "unreadable"
"""Flag of a document that its parser cannot read; it has no text."""
BOOK = "book"
"""Flag of a book or chapter among PubMed's citations; its text is not read."""

Pairs = tuple[tuple[str, str], ...]
Sections = Pairs

_SPACES = re.compile(r"[ \t\r\n]+")


class Document(NamedTuple):
    """One citation or text, or (`deleted`) the notice that a version of a citation is withdrawn.

    `date` is the day of the last revision (YYYY-MM-DD, or as much of it as the source gives),
    `published` the year of publication; "" where unknown. `pmid` is the document's number in PubMed, both
    for citations and for articles; "" if it has none.
    `sections` are (label, text) of the abstract, or of the whole text if it has no abstract; a missing label
    is "". `body` are an article's other sections; paragraphs are lines of a text.
    `flags` are marks of the source in addition to the types (`retracted`, `manuscript`). `corrections` are
    (kind, PMID or "") of notices about this document, and of documents that it is a notice about; see
    `pubmill.corpus.notices`.
    """

    id: str
    version: int = 1
    pmid: str = ""
    date: str = ""
    published: str = ""
    languages: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    licence: str = ""
    title: str = ""
    sections: Sections = ()
    body: Sections = ()
    flags: tuple[str, ...] = ()
    corrections: Pairs = ()
    deleted: bool = False


def joined(sections: Iterable[tuple[str, str]]) -> str:
    """Return sections as text, one per line, with labels as `LABEL: text`."""
    return "\n".join(f"{label}: {text}" if label else text for label, text in sections)


def count_words(sections: Iterable[tuple[str, str]]) -> int:
    """Count whitespace-separated words, without the labels."""
    return sum(len(text.split()) for _, text in sections)


@dataclass(frozen=True, slots=True)
class ShardCounts:
    """Numbers of citations (or texts) and of deletions in a shard."""

    citations: int
    deletions: int


def single_spaced(text: str) -> str:
    """Replace line breaks and runs of spaces by one space; other Unicode spaces stay, as the author's own."""
    # Nearly all text needs no replacement, and four searches cost a tenth of the substitution.
    if "  " in text or "\n" in text or "\t" in text or "\r" in text:
        text = _SPACES.sub(" ", text)
    return text.strip(" ")


def write_shard(
    path: Path,
    documents: Iterable[Document],
    *,
    source: str,
    file: str,
    order: int,
    digest: str = "",
    private: bool = False,
) -> ShardCounts:
    """Write `documents` as the parsed shard `path`, in their order, and count them.

    `source` (the name in the corpus spec), `file` and `digest` (the name and the SHA-256 of the file that was
    read) and the counts go into the parquet metadata. `order` is the file's place in the loading order of its
    source.
    A `private` shard contains licensed text: only its owner may read it and what is selected from it.
    """
    rows = deletions = 0
    with writing(path) as temporary, parquet_writer(temporary, SCHEMA, private) as writer:
        for group in _row_groups(with_counts(documents, "documents")):
            writer.write_table(_arrow_table(group, order, rows))
            rows += len(group)
            deletions += sum(document.deleted for document in group)
        counts = {"citations": rows - deletions, "deletions": deletions}
        access = "yes" if private else "no"
        labels = {"source": source, "file": file, "file_sha256": digest, "private": access}
        writer.add_key_value_metadata(labels | {key: str(value) for key, value in counts.items()})
    return ShardCounts(**counts)


def read_shard(path: Path) -> Iterator[tuple[int, Document]]:
    """Yield (position, document) of a parsed shard, without deletions."""
    for batch in _open_shard(path).iter_batches(batch_size=1024):
        for row in batch.to_pylist():
            position, deleted = row["position"], row["deleted"]
            if not deleted:
                del row["order"], row["position"]
                for name in PAIRED:
                    row[name] = tuple(tuple(pair.values()) for pair in row[name])
                for name in ("languages", "types", "flags"):
                    row[name] = tuple(row[name])
                yield position, Document(**row)


def is_private(path: Path) -> bool:
    return access_in(_metadata(path), path) != PUBLIC


def read_source(path: Path) -> tuple[str, ShardCounts]:
    """Return the name of a parsed shard's source, and the shard's counts."""
    metadata = _metadata(path)
    try:
        counts = ShardCounts(int(metadata[b"citations"]), int(metadata[b"deletions"]))
        return metadata[b"source"].decode(), counts
    except KeyError as error:
        raise PubmillError(
            f"{path}: no {error} in its metadata, so it is not a parsed shard; parse the source file again"
        ) from None


def read_digest(path: Path) -> str:
    """Return the SHA-256 of the source file behind a parsed shard; "" if the shard has none."""
    return _metadata(path).get(b"file_sha256", b"").decode()


def _metadata(path: Path) -> dict[bytes, bytes]:
    return _open_shard(path).metadata.metadata or {}


def _open_shard(path: Path) -> pq.ParquetFile:
    try:
        file = open_parquet(path)
        if fault := shard_fault(path, file):
            raise PubmillError(f"{path}: {fault}. {REMAKE}")
        return file
    except FileNotFoundError:
        raise PubmillError(f"{path} does not exist; parse the source file first") from None
    except pa.ArrowInvalid as error:
        raise PubmillError(f"{path} is not a parquet file ({error}); delete it and parse again") from None


def _row_groups(documents: Iterable[Document]) -> Iterator[list[Document]]:
    group: list[Document] = []
    characters = 0
    for document in documents:
        group.append(document)
        characters += len(document.title)
        characters += sum(len(text) for part in (document.sections, document.body) for _, text in part)
        if len(group) == ROWS_PER_GROUP or characters > CHARACTERS_PER_GROUP:
            yield group
            group, characters = [], 0
    if group:
        yield group


def _arrow_table(group: list[Document], order: int, first: int) -> pa.Table:
    """Return the rows as an Arrow table, built from flat buffers. `pa.array` of a list imports pandas if it
    is installed, which would cost every job 50 MB."""
    rows = range(first, first + len(group))
    numbers = {"version": ("i", [row.version for row in group]), "position": ("i", rows)}
    numbers["order"] = ("q", [order] * len(group))
    deleted = np.packbits([row.deleted for row in group], bitorder="little")
    columns = {"deleted": pa.Array.from_buffers(pa.bool_(), len(group), [None, pa.py_buffer(deleted)])}
    for name in PAIRED:
        lists = [getattr(row, name) for row in group]
        texts = [_string_array(pair[place] for pairs in lists for pair in pairs) for place in (0, 1)]
        pairs = pa.StructArray.from_arrays(texts, fields=list(SCHEMA.field(name).type.value_type))
        columns[name] = pa.ListArray.from_arrays(_list_offsets(lists), pairs)
    for name, (code, values) in numbers.items():
        buffer = pa.py_buffer(array(code, values))
        columns[name] = pa.Array.from_buffers(SCHEMA.field(name).type, len(group), [None, buffer])
    for name in ("id", "pmid", "date", "published", "licence", "title"):
        columns[name] = _string_array([getattr(row, name) for row in group])
    for name in ("languages", "types", "flags"):
        lists = [getattr(row, name) for row in group]
        flat = _string_array(chain.from_iterable(lists))
        columns[name] = pa.ListArray.from_arrays(_list_offsets(lists), flat)
    return pa.Table.from_arrays([columns[name] for name in SCHEMA.names], schema=SCHEMA)


def _list_offsets(lists: Iterable[Sized]) -> pa.Array:
    """Return where each list begins in the concatenation of all, and where the last one ends."""
    ends = array("i", accumulate(map(len, lists), initial=0))
    return pa.Array.from_buffers(pa.int32(), len(ends), [None, pa.py_buffer(ends)])


def _string_array(texts: Iterable[str]) -> pa.StringArray:
    encoded = [text.encode() for text in texts]
    ends = _list_offsets(encoded).buffers()[1]
    return pa.StringArray.from_buffers(len(encoded), ends, pa.py_buffer(b"".join(encoded)))

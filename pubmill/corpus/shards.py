"""Parsed shards: the common form of all sources before documents are selected.

A shard is one Parquet file (zstd) per source file, in row groups of bounded size, so that the memory for
writing and reading does not depend on the size of the source file. `position` is the row's number.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
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
) -> tuple[int, int]:
    """Write `documents` as the parsed shard `path`, in their order; return how many are citations (or texts)
    and how many deletions.

    `source` (the name in the corpus spec), `file` and `digest` (the name and the SHA-256 of the file that was
    read) and the counts go into the parquet metadata. `order` is the file's place in the loading order of its
    source.
    A `private` shard contains licensed text: only its owner may read it and what is selected from it.
    """
    rows = deletions = 0
    with writing(path) as temporary, parquet_writer(temporary, SCHEMA, private) as writer:
        for group in _row_groups(with_counts(documents, "documents")):
            columns = dict(zip(Document._fields, zip(*group, strict=True), strict=True))
            places = {"order": [order] * len(group), "position": range(rows, rows + len(group))}
            writer.write_table(pa.table(columns | places, SCHEMA))
            rows += len(group)
            deletions += sum(document.deleted for document in group)
        writer.add_key_value_metadata({
            "source": source, "file": file, "file_sha256": digest, "private": "yes" if private else "no",
            "citations": str(rows - deletions), "deletions": str(deletions),
        })  # fmt: skip
    return rows - deletions, deletions


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


def read_source(path: Path) -> tuple[str, int, int]:
    """Return the name of a parsed shard's source, and its numbers of citations and of deletions."""
    metadata = _metadata(path)
    try:
        return metadata[b"source"].decode(), int(metadata[b"citations"]), int(metadata[b"deletions"])
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


def read_reasons(table: Path, shard: int) -> dict[int, str | None]:
    """Return position -> reason of the citations of one shard in `latest.parquet` or `duplicates.parquet`,
    which are sorted by shard; row groups of other shards are not read."""
    if not table.is_file():
        raise PubmillError(f"{table} does not exist; find the latest versions and the duplicates first")
    with open_parquet(table) as file:
        column = file.schema_arrow.get_field_index("shard")
        ranges = [file.metadata.row_group(n).column(column).statistics for n in range(file.num_row_groups)]
        others = {n for n, of in enumerate(ranges) if of and of.has_min_max and not of.min <= shard <= of.max}
        rows = file.read_row_groups([n for n in range(file.num_row_groups) if n not in others])
    start, stop = np.searchsorted(rows["shard"].to_numpy(), [shard, shard + 1])
    positions, reasons = (rows[name].slice(start, stop - start) for name in ("position", "reason"))
    return dict(zip(positions.to_pylist(), reasons.to_pylist(), strict=True))


def reasons_digest(table: Path, shard: int) -> str:
    """Return a digest of `read_reasons`, which does not depend on the shard's number."""
    reasons = read_reasons(table, shard)
    return hashlib.sha256(repr([list(reasons), list(reasons.values())]).encode()).hexdigest()

"""Documents of datasets that were retracted or revised, or that PubMed no longer has; and numbers of
documents with notices in files of PubMed and in parsed shards."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, TypedDict

import pyarrow as pa

from pubmill.corpus.document_years import wanted_rows
from pubmill.corpus.medline import file_order, read_medline
from pubmill.corpus.notices import MARKS, STANDING
from pubmill.corpus.shards import Document, read_shard

_COLUMNS = ["id", "version", "date", "flags", "corrections", "deleted"]
DELETED = "deleted"
"""Mark of a document that PubMed has withdrawn."""


class Notice(TypedDict):
    """A document with its marks (`STANDING`, `DELETED`), the notices about it as [kind, PMID or ""], and the
    day of its last revision."""

    pmid: str
    marks: list[str]
    notices: list[list[str]]
    date: str


class NoticeList(TypedDict):
    """The number of a dataset's documents, of those that the sources have, and those with a notice."""

    documents: int
    found: int
    marked: list[Notice]


def notices_of(
    sources: Sequence[Sequence[Path]], datasets: Mapping[str, AbstractSet[str]]
) -> dict[str, NoticeList]:
    """Return the notices on the documents of each dataset, which are PMIDs. `sources`: the parsed shards of
    each source, in the order of authority; within a source, in the order of loading."""
    ids = pa.array([f"pmid:{pmid}" for pmid in sorted(set().union(*datasets.values()))], pa.string())
    known: dict[str, Notice] = {}
    for shards in reversed(sources):
        known |= _current_notices(shards, ids)
    return {
        name: {
            "documents": len(pmids),
            "found": len(pmids & known.keys()),
            "marked": [known[pmid] for pmid in sorted(pmids & known.keys(), key=int) if known[pmid]["marks"]],
        }
        for name, pmids in datasets.items()
    }


def _current_notices(shards: Iterable[Path], ids: pa.Array) -> dict[str, Notice]:
    """Return the state of documents after all shards of a source are loaded, by PMID."""
    records: dict[str, dict[int, Any]] = {}
    for shard in shards:
        for row in wanted_rows(shard, "id", ids, _COLUMNS).to_pylist():
            records.setdefault(row["id"].removeprefix("pmid:"), {})[row["version"]] = row
    return {pmid: _notice(pmid, versions) for pmid, versions in records.items()}


def _notice(pmid: str, versions: Mapping[int, Any]) -> Notice:
    """Return the notice on a document, from the last record of each of its versions."""
    there = {version: row for version, row in versions.items() if not row["deleted"]}
    row = there[max(there)] if there else versions[max(versions)]
    return {
        "pmid": pmid,
        "marks": [mark for mark in STANDING if mark in row["flags"]] if there else [DELETED],
        "notices": [[one["kind"], one["pmid"]] for one in row["corrections"]],
        "date": row["date"],
    }


MARK_COLUMNS = ("mark", "documents", "type and link", "type only", "link only", "PMID of the other")


def count_marks(files: Iterable[Path]) -> tuple[int, list[tuple[str, ...]]]:
    """Return the number of documents in files, and for each mark the columns `MARK_COLUMNS`.

    Files of PubMed are loaded in NCBI's order, parsed shards (`.parquet`) before them in the order of their
    names; the last record of each version of a document counts.
    """
    counts: dict[str, Counter[str]] = {mark: Counter() for mark in MARKS}
    documents = _documents(files)
    for document in documents:
        for mark in set(document.flags) & MARKS.keys():
            links = [pmid for kind, pmid in document.corrections if kind in MARKS[mark]]
            by_type = not MARKS[mark].isdisjoint(document.types)
            how = "both" if by_type and links else "type" if by_type else "link" if links else "source"
            counts[mark].update([how, *(["known"] if any(links) else []), "all"])
    order = ("all", "both", "type", "link", "known")
    return len(documents), [(mark, *(str(one[how]) for how in order)) for mark, one in counts.items()]


def _documents(files: Iterable[Path]) -> list[Document]:
    """Return the documents without their texts, after all files are loaded."""
    documents: dict[tuple[str, int], Document] = {}
    for path in sorted(files, key=_load_order):
        for document in _read(path):
            if document.deleted:
                documents.pop((document.id, document.version), None)
            else:
                documents[document.id, document.version] = document._replace(title="", sections=(), body=())
    return list(documents.values())


def _load_order(path: Path) -> tuple[int, str]:
    return (0, str(path)) if path.suffix == ".parquet" else (file_order(path), "")


def _read(path: Path) -> Iterator[Document]:
    if path.suffix == ".parquet":
        yield from (document for _, document in read_shard(path))
    else:
        yield from read_medline(path)

"""Documents of datasets that were retracted or revised, or that PubMed no longer has."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, TypedDict

import pyarrow as pa

from pubmill.corpus.document_years import wanted_rows
from pubmill.corpus.notices import STANDING

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
    """Return the notices on the documents of each dataset, which are PMIDs.

    `sources`: the parsed shards of each source, in the order of authority; within a source, in the order of
    loading.
    """
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

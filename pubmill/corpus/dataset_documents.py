"""Notices on the documents of datasets: which were retracted or revised, or are no longer in PubMed."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

import pyarrow as pa
import pyarrow.compute as pc

from pubmill.corpus.notices import STANDING
from pubmill.errors import PubmillError
from pubmill.recipes.corpora import DocumentsRecipe
from pubmill.storage.files import read_jsonl_gz
from pubmill.storage.parquet import open_parquet


def documents_in(files: Iterable[Path]) -> set[str]:
    """Return the ids (`document`) that occur in the rows of files of examples or of sentences' documents."""
    return {str(row["document"]) for file in files for row in read_jsonl_gz(file) if row.get("document")}


def shards_of_sources(recipe: DocumentsRecipe, parsed: Path) -> list[list[Path]]:
    """Return the parsed shards of each source, in the order of authority; `parsed`: their folder."""
    return [
        [parsed / source.name / f"{shard}.parquet" for shard in source.shards] for source in recipe.sources
    ]


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
    """The number of a dataset's documents, the number `found` in the sources, and the notices on them."""

    documents: int
    found: int
    marked: list[Notice]


def notices_of(sources: Sequence[Sequence[Path]], datasets: Mapping[str, set[str]]) -> dict[str, NoticeList]:
    """Return the notices on the documents of each dataset, which are PMIDs. `sources`: the parsed shards of
    each source, in the order of authority, and within a source in the order of loading."""
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
        try:
            with open_parquet(shard) as file:
                table = file.read(_COLUMNS)
        except (pa.ArrowException, OSError, KeyError) as error:
            raise PubmillError(f"{shard}: no parsed shard: {error}") from None
        for row in table.filter(pc.is_in(table["id"], value_set=ids)).to_pylist():
            records.setdefault(row["id"].removeprefix("pmid:"), {})[row["version"]] = row
    notices: dict[str, Notice] = {}
    for pmid, versions in records.items():
        there = {version: row for version, row in versions.items() if not row["deleted"]}
        row = there[max(there)] if there else versions[max(versions)]
        notices[pmid] = {
            "pmid": pmid,
            "marks": [mark for mark in STANDING if mark in row["flags"]] if there else [DELETED],
            "notices": [[one["kind"], one["pmid"]] for one in row["corrections"]],
            "date": row["date"],
        }
    return notices

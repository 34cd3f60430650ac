"""The current version of each document, found in one pass over ids, never over text, and corpus locks.

NLM's rules (Technical Bulletin 2012 Jan-Feb;(384):e6, and the loading order of the PubMed folders):

- PMID and version number together identify a record. A record in a later file replaces the earlier
  one of the same PMID and version; within a file, the later position does.
- `DeleteCitation` withdraws that PMID and version. A later file can bring it back.
- Only the highest of the remaining versions is the citation that PubMed shows.

The order of sources in the spec is their priority: an id found in one hides the same id in later sources.
A deletion applies within its source only.

Corpus locks: lists of a corpus's documents, to rebuild it with other source files and to compare two days.

NLM replaces the baseline every year and renumbers its files, so file names do not identify the content of a
corpus; id, version and day of the last revision of each document do. A lock is one Parquet file without text,
so it can be published.

- Columns id, version, date, and file (the place of its source file in `files`), sorted by id; a few bytes per
  document.
- In the metadata `files`: JSON, [{source, file, md5, sha256}] of every source file, in order of loading;
  `totals`: JSON, day of the last revision, documents, words and bytes.

The same documents from the same files result in the same bytes (with the same release of pyarrow).
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from hashlib import file_digest
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from duckdb import DuckDBPyConnection

from pubmill.corpus.shards import read_digest
from pubmill.errors import PubmillError
from pubmill.recipes import build
from pubmill.recipes.recipe_types import StrictRecipe
from pubmill.storage.database import copy, database
from pubmill.storage.files import read_json, sealed, sha256, temporary_name, write_json, writing
from pubmill.storage.parquet import all_verified, parquet_writer, verified
from pubmill.storage.result_paths import RELATIVE

# Beyond this, rows spill to a folder beside the output; all of PubMed has about 40 million rows.
MEMORY = "2GB"

_REASONS = """
WITH records AS (
    SELECT *,
        count(*) FILTER (NOT deleted) OVER later AS later_citations,
        count(*) FILTER (deleted) OVER later AS later_deletions
    FROM events
    WINDOW later AS (
        PARTITION BY source, id, version ORDER BY "order" DESC, shard DESC, position DESC
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
), judged AS (
    SELECT shard, position, source, id, version,
        CASE WHEN later_citations > 0 THEN 'superseded' WHEN later_deletions > 0 THEN 'deleted' END AS reason
    FROM records WHERE NOT deleted
)
SELECT shard, position, coalesce(reason,
    CASE WHEN version < max(version) FILTER (reason IS NULL) OVER (PARTITION BY source, id) THEN 'superseded'
         WHEN source > min(source) FILTER (reason IS NULL) OVER (PARTITION BY id) THEN 'duplicate' END
) AS reason
FROM judged ORDER BY shard, position
"""
_EVENTS = """
CREATE VIEW events AS
SELECT shard, source, rows.id, rows.version, rows.date, rows."order", rows.position, rows.deleted
FROM read_parquet(getvariable('files'), filename = true) AS rows JOIN shards ON rows.filename = shards.file
"""


LOCK = pa.schema([("id", pa.string()), ("version", pa.int32()), ("date", pa.string()), ("file", pa.int32())])
ROWS_PER_GROUP = 1 << 20
SAMPLES = 20
TOTALS = ("day", "documents", "words", "bytes")
"""Statistics of a corpus that its lock has."""

# Parts are numbered in the order of the source files.
_LOCKED = """
SELECT id, version, date, regexp_extract(part, '[0-9]+$')::INTEGER AS file
FROM read_parquet(?) ORDER BY id, version, date
"""
# A document whose locked version is in several files is taken from the source with the highest priority, and
# there from the last file.
_LOCKED_REASONS = """
WITH matched AS (
    SELECT shard, position, source, "order", events.id, locked.id IS NOT NULL AS known
    FROM events LEFT JOIN locked USING (id, version, date) WHERE NOT deleted
)
SELECT shard, position, CASE WHEN NOT known THEN 'not_in_lock' WHEN row_number() OVER (
        PARTITION BY id, known ORDER BY source, "order" DESC, shard DESC, position DESC
    ) > 1 THEN 'superseded' END AS reason
FROM matched ORDER BY shard, position
"""
_DIFFERENCES = """
WITH seen AS (
    SELECT id, bool_or(events.version = locked.version AND events.date = locked.date) AS exact,
        arg_max(events.version, ("order", shard, position)) AS version,
        arg_max(events.date, ("order", shard, position)) AS date
    FROM events JOIN locked USING (id) WHERE NOT deleted GROUP BY id
)
SELECT locked.*, CASE WHEN seen.id IS NULL THEN 'gone' ELSE 'changed' END AS status,
    seen.version AS found_version, seen.date AS found_date
FROM locked LEFT JOIN seen USING (id) WHERE seen.exact IS NOT true ORDER BY id
"""
_BY_FILE = """
SELECT file, count(*), count(*) FILTER (status = 'changed'), count(*) FILTER (status = 'gone')
FROM locked LEFT JOIN (SELECT id, status FROM read_parquet(?)) USING (id) GROUP BY file
"""


def write_latest(path: Path, shards: Sequence[Path], sources: Sequence[int]) -> None:
    """Write which citations are current.

    `sources[i]` is the rank of the source of `shards[i]`, 0 for the one with the highest priority.
    The Parquet file has one row for each parsed citation: shard (index in `shards`, int32),
    position (int32), and reason: null if the citation is current, else `superseded`, `deleted` or
    `duplicate` (current in a source of higher priority). Sorted by shard, position.
    """
    with writing(path) as temporary, merging(path) as connection:
        add_events(connection, shards, sources)
        copy(connection, _REASONS, temporary)


def merging(path: Path, memory: str = "") -> AbstractContextManager[DuckDBPyConnection]:
    """Open a database for queries whose result is written to `path`; it spills to a folder beside it."""
    return database(temporary_name(path.with_suffix(".spill")), memory or MEMORY, f"cannot write {path}")


def add_events(connection: DuckDBPyConnection, shards: Sequence[Path], sources: Sequence[int]) -> None:
    """Make the view `events`: every row of the parsed shards, with its shard's number and source's rank."""
    if len(set(shards)) != len(shards):
        raise PubmillError("--shards names a file more than once")
    for shard in shards:
        if not shard.is_file():
            raise PubmillError(f"{shard} does not exist; parse the source file first")
    files = all_verified(shards)
    connection.execute("CREATE TABLE shards (shard INTEGER, source INTEGER, file VARCHAR)")
    rows = [[number, *row] for number, row in enumerate(zip(sources, files, strict=True))]
    connection.executemany("INSERT INTO shards VALUES (?, ?, ?)", rows)
    connection.execute("SET VARIABLE files = $files", {"files": files})
    connection.execute(_EVENTS)


class SourceFile(StrictRecipe):
    """A source file of a corpus: its source's name in the spec, its file name, and its digests in hex."""

    source: str
    file: str
    md5: str
    sha256: str


def source_file(source: str, path: Path) -> SourceFile:
    """Return a source file with its digests: of the record of its download, or of the file if none has them
    (files of the user's own; archives of many downloads)."""
    record = Path(RELATIVE.source_record(str(path)))
    known = read_json(record) if record.is_file() else {}
    if not {"md5", "sha256"} <= known.keys():
        if not path.is_file():
            raise PubmillError(f"{path} does not exist and has no record of its digests; run again")
        with path.open("rb") as content:
            known = {"md5": file_digest(content, "md5").hexdigest(), "sha256": sha256(path)}
    return SourceFile(source=source, file=path.name, md5=known["md5"], sha256=known["sha256"])


def write_lock(
    path: Path, manifest: Path, files: Sequence[SourceFile], statistics: Mapping[str, object] | None = None
) -> int:
    """Write the lock of a corpus from its manifest and statistics; return the number of documents."""
    rows, encoding = 0, {"id": "DELTA_BYTE_ARRAY"}
    options: Any = {"use_dictionary": LOCK.names[1:], "column_encoding": encoding, "store_schema": False}
    with (
        writing(path) as temporary,
        merging(path) as connection,
        parquet_writer(temporary, LOCK, **options) as writer,
    ):
        relation = connection.sql(_LOCKED, params=[str(verified(manifest))])
        for batch in relation.to_arrow_reader(ROWS_PER_GROUP):
            writer.write_table(pa.Table.from_batches([batch]).cast(LOCK))
            rows += len(batch)
        listed = json.dumps([asdict(file) for file in files], sort_keys=True)
        totals = {name: (statistics or {})[name] for name in TOTALS if name in (statistics or {})}
        writer.add_key_value_metadata({"files": listed, "totals": json.dumps(totals)})
    return rows


def read_files(path: Path) -> list[SourceFile]:
    """Return the source files of a locked corpus."""
    try:
        footer = pq.read_metadata(verified(path))
        if not footer.schema.to_arrow_schema().equals(LOCK):
            raise ValueError(f"its columns are not {', '.join(LOCK.names)}")
        listed = json.loads((footer.metadata or {})[b"files"])
        if not isinstance(listed, list):
            raise TypeError("its source files are no list")
    except FileNotFoundError:
        raise PubmillError(f"{path} does not exist; expected the lock of a corpus") from None
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise PubmillError(
            f"{path} is no lock of a corpus ({error}); expected a corpus.lock as pubmill writes it"
        ) from None
    return [build(SourceFile, file, f"{path}: source file {place}") for place, file in enumerate(listed, 1)]


def write_locked(
    path: Path, shards: Sequence[Path], sources: Sequence[int], lock: Path, report: Path, differences: Path
) -> None:
    """Write which citations are in the lock, in the form of `write_latest`; reject others as `not_in_lock`.

    A locked citation is kept even if a later file revises or deletes it. `report` (JSON) counts the locked
    documents that are exact, changed (found with another version or date only) or gone (found in no shard),
    with samples of ids. It lists the locked source files from which no shard was parsed, by SHA-256, with the
    numbers of their documents that are changed or gone. `differences` (Parquet) lists all documents that are
    not exact, with the version and date found.
    """
    files = read_files(lock)
    with writing(path) as temporary, writing(differences) as listed, merging(path) as connection:
        connection.execute("SET VARIABLE lock = $lock", {"lock": str(lock)})
        connection.execute("CREATE VIEW locked AS SELECT * FROM read_parquet(getvariable('lock'))")
        twice = "SELECT id FROM locked GROUP BY id HAVING count(*) > 1 ORDER BY id LIMIT 1"
        if row := connection.execute(twice).fetchone():
            fault = f"{lock} has {row[0]} more than once"
            raise PubmillError(f"{fault}; a corpus holds one version of a document")
        add_events(connection, shards, sources)
        copy(connection, _LOCKED_REASONS, temporary)
        copy(connection, _DIFFERENCES, listed)
        counted = connection.execute(
            "SELECT status, count(*), array_agg(id ORDER BY id)[:?] FROM read_parquet(?) GROUP BY status",
            [SAMPLES, str(listed)],
        ).fetchall()
        counted_files = connection.execute(_BY_FILE, [str(listed)]).fetchall()
        counts = {"changed": 0, "gone": 0} | {status: count for status, count, _ in counted}
        by_file = {place: numbers for place, *numbers in counted_files}
        present, absent = set(map(read_digest, shards)), []
        for place, file in enumerate(files):
            if file.sha256 not in present:
                documents, changed, gone = by_file.get(place, (0, 0, 0))
                absent.append({
                    "source": file.source, "file": file.file, "sha256": file.sha256,
                    "documents": documents, "changed": changed, "gone": gone,
                })  # fmt: skip
        locked = pq.read_metadata(lock).num_rows
        found = {
            "locked": locked,
            "exact": locked - sum(counts.values()),
            **counts,
            "samples": {status: ids for status, _, ids in counted},
            "locked_files": [asdict(file) for file in files],
            "absent_files": absent,
        }
        write_json(report, sealed(found))

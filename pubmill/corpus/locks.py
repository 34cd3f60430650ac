"""Corpus locks: lists of a corpus's documents, to rebuild it with other source files and to compare two days.

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
from dataclasses import asdict
from hashlib import file_digest
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pubmill.corpus.document_versions import add_events, merging
from pubmill.corpus.shards import read_digest
from pubmill.errors import PubmillError
from pubmill.recipes import build
from pubmill.recipes.recipe_types import StrictRecipe
from pubmill.storage.database import copy
from pubmill.storage.files import read_json, sealed, sha256, write_json, writing
from pubmill.storage.parquet import parquet_writer, verified
from pubmill.storage.result_paths import RELATIVE

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

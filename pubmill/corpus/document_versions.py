"""The current version of each document, found in one pass over ids, never over text.

NLM's rules (Technical Bulletin 2012 Jan-Feb;(384):e6, and the loading order of the PubMed folders):

- PMID and version number together identify a record. A record in a later file replaces the earlier
  one of the same PMID and version; within a file, the later position does.
- `DeleteCitation` withdraws that PMID and version. A later file can bring it back.
- Only the highest of the remaining versions is the citation that PubMed shows.

The order of sources in the spec is their priority: an id found in one hides the same id in later sources.
A deletion applies within its source only.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from duckdb import DuckDBPyConnection

from pubmill.errors import PubmillError
from pubmill.storage.database import copy, database
from pubmill.storage.files import temporary_name, writing
from pubmill.storage.parquet import all_verified

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

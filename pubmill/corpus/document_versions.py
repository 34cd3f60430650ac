"""The current version of each document, found in one pass over ids, never over text.

NLM's rules (Technical Bulletin 2012 Jan-Feb;(384):e6, and the loading order of the PubMed folders):

- PMID and version number together identify a record. A record in a later file replaces the earlier
  one of the same PMID and version; within a file, the later position does.
- `DeleteCitation` withdraws that PMID and version. A later file can bring it back.
- Only the highest of the remaining versions is the citation that PubMed shows.

The order of sources in the spec is their priority: an id found in one hides the same id in later sources.
A deletion applies within its source only. `changes` compares two states of the sources, such as before and
after an update, and judges only documents with a record that is in just one of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

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


def merging(path: Path) -> AbstractContextManager[DuckDBPyConnection]:
    """Open a database for queries whose result is written to `path`; it spills to a folder beside it."""
    return database(temporary_name(path.with_suffix(".spill")), MEMORY, f"cannot write {path}")


def add_events(connection: DuckDBPyConnection, shards: Sequence[Path], sources: Sequence[int]) -> None:
    """Make the view `events`: every row of the parsed shards, with its shard's number and source's rank."""
    if len(set(shards)) != len(shards):
        raise PubmillError("--shards names a file more than once")
    _add_shards(connection, shards, ["source INTEGER"], [[source] for source in sources])
    connection.execute(_EVENTS)


def _add_shards(
    connection: DuckDBPyConnection, shards: Sequence[Path], columns: list[str], values: Iterable[list[Any]]
) -> None:
    """Make the table `shards`: number, the given columns, file; the variable `files` has all files."""
    for shard in shards:
        if not shard.is_file():
            raise PubmillError(f"{shard} does not exist; parse the source file first")
    files = all_verified(shards)
    connection.execute(f"CREATE TABLE shards (shard INTEGER, {', '.join(columns)}, file VARCHAR)")
    rows = [[number, *row, file] for number, (row, file) in enumerate(zip(values, files, strict=True))]
    marks = ", ".join("?" * (len(columns) + 2))
    connection.executemany(f"INSERT INTO shards VALUES ({marks})", rows)
    connection.execute("SET VARIABLE files = $files", {"files": files})


KINDS = ("new", "reappeared", "revised", "retracted", "deleted")

Shards = Mapping[Path, int]
"""Parsed shards with the ranks of their sources, 0 for the one with the most authority."""

# `retracted`: retracted after and not before; `revised`: else, if another record is current than before.
_CHANGES = """
WITH events AS (
    SELECT shards.source, shards.before, shards.after, rows.id, rows.version, rows.deleted,
        'retracted' IN rows.flags AS retracted, [rows."order", shards.shard, rows.position] AS place
    FROM read_parquet(getvariable('files'), filename = true) AS rows
    JOIN shards ON rows.filename = shards.file
), touched AS (
    SELECT * FROM events SEMI JOIN (SELECT DISTINCT id FROM events WHERE before != after) USING (id)
), records AS (
    SELECT source, id, version,
        arg_max({'deleted': deleted, 'retracted': retracted, 'place': place}, place) FILTER (before) AS old,
        arg_max({'deleted': deleted, 'retracted': retracted, 'place': place}, place) FILTER (after) AS new,
        bool_or(before) AS known
    FROM touched GROUP BY source, id, version
), current AS (
    SELECT id, bool_or(known) AS known,
        arg_max(old, [-source, version]) FILTER (NOT old.deleted) AS old,
        arg_max(new, [-source, version]) FILTER (NOT new.deleted) AS new
    FROM records GROUP BY id
), judged AS (
    SELECT id, CASE WHEN old IS NULL AND new IS NULL THEN NULL
        WHEN old IS NULL THEN if(known, 'reappeared', 'new')
        WHEN new IS NULL THEN 'deleted'
        WHEN new.retracted AND NOT old.retracted THEN 'retracted'
        WHEN new.place != old.place THEN 'revised' END AS kind
    FROM current
)
SELECT kind, count(*), list(id ORDER BY id)[:5] FROM judged WHERE kind IS NOT NULL GROUP BY kind
"""


class Change(NamedTuple):
    """A kind of change (`KINDS`), the number of documents, and the first ids."""

    kind: str
    documents: int
    ids: tuple[str, ...]


def changes(before: Shards, after: Shards, spill: Path) -> list[Change]:
    """Return which documents differ between two sets of shards, by kind; DuckDB spills beside `spill`."""
    sources = {**before, **after}
    if not sources:
        return []
    columns = ["source INTEGER", "before BOOLEAN", "after BOOLEAN"]
    values = [[source, shard in before, shard in after] for shard, source in sources.items()]
    with merging(spill) as connection:
        _add_shards(connection, list(sources), columns, values)
        found = connection.execute(_CHANGES).fetchall()
    by_kind = {kind: Change(kind, count, tuple(ids)) for kind, count, ids in found}
    return [by_kind[kind] for kind in KINDS if kind in by_kind]

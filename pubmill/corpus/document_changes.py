"""Differences between two states of a corpus's sources, such as before and after an update.

Only documents of which a record is in one state alone are compared, so that the work is in proportion to the
change.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pubmill.corpus.document_versions import merging
from pubmill.errors import PubmillError
from pubmill.storage.parquet import all_verified

KINDS = ("new", "reappeared", "revised", "retracted", "deleted")
SAMPLES = 5

Shards = Mapping[Path, int]
"""Parsed shards with the ranks of their sources, 0 for the one with the most authority."""

# A document is retracted if it is now and was not before; else it is revised if another record is current.
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
        arg_max({{'deleted': deleted, 'retracted': retracted, 'place': place}}, place) FILTER (before) AS old,
        arg_max({{'deleted': deleted, 'retracted': retracted, 'place': place}}, place) FILTER (after) AS new,
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
SELECT kind, count(*), list(id ORDER BY id)[:{samples}] FROM judged WHERE kind IS NOT NULL GROUP BY kind
"""


class Change(NamedTuple):
    """A kind of change (`KINDS`), the number of documents, and the first ids."""

    kind: str
    documents: int
    ids: tuple[str, ...]


def changes(before: Shards, after: Shards, spill: Path) -> list[Change]:
    """Return which documents differ between two sets of shards, by kind; DuckDB spills beside `spill`."""
    shards = list(dict.fromkeys((*before, *after)))
    for shard in shards:
        if not shard.is_file():
            raise PubmillError(f"{shard} does not exist; parse the source file first")
    if not shards:
        return []
    with merging(spill) as connection:
        connection.execute(
            "CREATE TABLE shards (shard INTEGER, source INTEGER, before BOOLEAN, after BOOLEAN, file VARCHAR)"
        )
        connection.executemany(
            "INSERT INTO shards VALUES (?, ?, ?, ?, ?)", list(_rows(shards, before, after))
        )
        connection.execute("SET VARIABLE files = $files", {"files": all_verified(shards)})
        by_kind = {
            kind: Change(kind, count, tuple(ids))
            for kind, count, ids in connection.execute(_CHANGES.format(samples=SAMPLES)).fetchall()
        }
    return [by_kind[kind] for kind in KINDS if kind in by_kind]


def _rows(shards: Sequence[Path], before: Shards, after: Shards) -> Iterator[list[object]]:
    for number, (shard, file) in enumerate(zip(shards, all_verified(shards), strict=True)):
        source = after[shard] if shard in after else before[shard]
        yield [number, source, shard in before, shard in after, file]

"""Differences between two days of a corpus, by their locks."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import duckdb

from pubmill.corpus.locks import read_files, read_totals
from pubmill.storage.parquet import verified

SAMPLES = 5
_KINDS = """
SELECT CASE WHEN a.id IS NULL THEN 'new' WHEN b.id IS NULL THEN 'gone' ELSE 'revised' END AS kind,
    count(*), list(coalesce(a.id, b.id) ORDER BY coalesce(a.id, b.id))[:?]
FROM read_parquet(?) AS a FULL JOIN read_parquet(?) AS b ON a.id = b.id
WHERE (a.version, a.date) IS DISTINCT FROM (b.version, b.date) OR a.id IS NULL OR b.id IS NULL GROUP BY kind
"""


class LockDifferences(NamedTuple):
    """What two locks have: totals by name (first, second), documents by kind (number, first ids), and source
    files that only one has."""

    totals: dict[str, tuple[object, object]]
    documents: dict[str, tuple[int, tuple[str, ...]]]
    first_only: tuple[str, ...]
    second_only: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """Yield the differences as text."""
        for name, (one, other) in self.totals.items():
            yield f"{name}: {one} -> {other}"
        for kind, (number, ids) in self.documents.items():
            yield f"{number} {kind}: {', '.join(ids)}" + (" ..." if number > len(ids) else "")
        for which, files in (("first", self.first_only), ("second", self.second_only)):
            if files:
                span = files[0] if len(files) == 1 else f"{files[0]} to {files[-1]}"
                yield f"{len(files)} files of the {which} alone: {span}"


def lock_differences(first: Path, second: Path) -> LockDifferences:
    """Compare two locks: documents by id, version and day of revision, files by SHA-256."""
    files = [{one.sha256: one.file for one in read_files(path)} for path in (first, second)]
    totals = [read_totals(path) for path in (first, second)]
    with duckdb.connect() as connection:
        rows = connection.execute(_KINDS, [SAMPLES, str(verified(first)), str(verified(second))]).fetchall()
    by_kind = {kind: (count, tuple(ids)) for kind, count, ids in rows}
    return LockDifferences(
        {name: (totals[0].get(name), totals[1].get(name)) for name in (totals[0] | totals[1])},
        {kind: by_kind[kind] for kind in ("new", "revised", "gone") if kind in by_kind},
        tuple(name for digest, name in files[0].items() if digest not in files[1]),
        tuple(name for digest, name in files[1].items() if digest not in files[0]),
    )

"""Tables with one row for each citation of a corpus or for some.

Such a table, `latest.parquet` or `duplicates.parquet`, is sorted by its column `shard`, the number of the
part. DuckDB and Arrow's datasets are not imported: programs of single parts must start quickly.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from pubmill.errors import PubmillError
from pubmill.storage.parquet import open_parquet


def read_reasons(path: Path, shard: int) -> Iterator[tuple[int, str | None]]:
    """Yield (position, reason why it is not current, or None) for each citation of one shard, in order."""
    for batch in _rows_of_part(path, shard, "find the latest versions first").to_batches():
        yield from zip(batch["position"].to_pylist(), batch["reason"].to_pylist(), strict=True)


def read_duplicates(path: Path, shard: int) -> dict[int, str]:
    """Return position -> reason for the duplicates in one shard."""
    rows = _rows_of_part(path, shard, "find the duplicates first")
    return dict(zip(rows["position"].to_pylist(), rows["reason"].to_pylist(), strict=True))


def rows_digest(path: Path, shard: int) -> str:
    """Return a digest of what such a table says about one shard, but for the shard's number."""
    rows = _rows_of_part(path, shard, "find the latest versions and the duplicates first")
    said = repr([rows[name].to_pylist() for name in ("position", "reason")])
    return hashlib.sha256(said.encode()).hexdigest()


def _rows_of_part(path: Path, shard: int, advice: str) -> pa.Table:
    """Return the rows of a part; row groups of other parts are not read."""
    if not path.is_file():
        raise PubmillError(f"{path} does not exist; {advice}")
    with open_parquet(path) as file:
        column = file.schema_arrow.get_field_index("shard")
        ranges = [file.metadata.row_group(n).column(column).statistics for n in range(file.num_row_groups)]
        others = {n for n, of in enumerate(ranges) if of and of.has_min_max and not of.min <= shard <= of.max}
        rows = file.read_row_groups([n for n in range(file.num_row_groups) if n not in others])
    start, stop = np.searchsorted(rows["shard"].to_numpy(), [shard, shard + 1])
    return rows.slice(start, stop - start)

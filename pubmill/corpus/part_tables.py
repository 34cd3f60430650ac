"""Tables with one row for each citation of a corpus or for some, and their rows of one part.

Such a table, `latest.parquet` or `duplicates.parquet`, is sorted by its column `shard`, the number of the
part. It is divided into blocks of 100 parts, and these into parts: a job of a block runs again only if its
rows changed. DuckDB and Arrow's datasets are not imported: programs of single parts must start quickly.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from pubmill.errors import PubmillError
from pubmill.storage.files import writing
from pubmill.storage.parquet import open_parquet, parquet_writer

PARTS_OF_BLOCK = 100  # the outputs of one job of rule `divide_by_part`


def divide_by_part(table: Path, first: int, outputs: Sequence[Path], parts: int = 1) -> None:
    """Write the rows of a table to `outputs`: those of the next `parts` parts to each, from part `first` on.
    Outputs whose rows did not change keep their bytes, so that only the jobs of the others run again."""
    firsts = range(first, first + parts * len(outputs) + 1, parts)
    rows = _rows_of_parts(table, first, firsts[-1], "find the latest versions and the duplicates first")
    bounds = np.searchsorted(rows["shard"].to_numpy(), firsts)
    for output, start, end in zip(outputs, bounds, bounds[1:], strict=False):
        with writing(output) as temporary, parquet_writer(temporary, rows.schema) as writer:
            writer.write_table(rows.slice(start, end - start).combine_chunks())


def read_reasons(path: Path, shard: int) -> Iterator[tuple[int, str | None]]:
    """Yield (position, reason why it is not current, or None) for each citation of one shard, in order.
    `path`: the table of all shards, or of this one (`divide_by_part`)."""
    for batch in _rows_of_parts(path, shard, shard + 1, "find the latest versions first").to_batches():
        yield from zip(batch["position"].to_pylist(), batch["reason"].to_pylist(), strict=True)


def read_duplicates(path: Path, shard: int) -> dict[int, str]:
    """Return position -> reason for the duplicates in one shard; `path` as for `read_reasons`."""
    rows = _rows_of_parts(path, shard, shard + 1, "find the duplicates first")
    return dict(zip(rows["position"].to_pylist(), rows["reason"].to_pylist(), strict=True))


def _rows_of_parts(path: Path, first: int, end: int, advice: str) -> pa.Table:
    """Return the rows of the parts from `first` to before `end`; row groups of other parts are not read."""
    if not path.is_file():
        raise PubmillError(f"{path} does not exist; {advice}")
    with open_parquet(path) as file:
        column = file.schema_arrow.get_field_index("shard")
        ranges = [file.metadata.row_group(n).column(column).statistics for n in range(file.num_row_groups)]
        others = {
            n for n, of in enumerate(ranges) if of and of.has_min_max and (of.max < first or of.min >= end)
        }
        rows = file.read_row_groups([n for n in range(file.num_row_groups) if n not in others])
    start, stop = np.searchsorted(rows["shard"].to_numpy(), [first, end])
    return rows.slice(start, stop - start)

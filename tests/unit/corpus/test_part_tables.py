"""Tables of all citations, and their rows of one part."""

from itertools import repeat
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pubmill.corpus.part_tables import read_duplicates, read_reasons
from pubmill.errors import PubmillError


@pytest.mark.parametrize("rows_per_group", [1, 2, 3, 100])
def test_parts_are_found_in_row_groups_of_any_size(rows_per_group: int, tmp_path: Path) -> None:
    table, sizes = tmp_path / "duplicates.parquet", [3, 0, 1, 5, 0]
    shards = [shard for shard, size in enumerate(sizes) for _ in repeat(None, size)]
    rows = {
        "shard": pa.array(shards, pa.int32()), "position": range(9), "reason": [f"r{n}" for n in range(9)],
    }  # fmt: skip
    pq.write_table(pa.table(rows), table, row_group_size=rows_per_group)
    for shard in range(6):
        assert read_duplicates(table, shard) == {n: f"r{n}" for n in range(9) if shards[n] == shard}


def test_tables_that_are_not_there_say_what_makes_them(tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="none does not exist; find the latest versions first"):
        next(read_reasons(tmp_path / "none", 0))
    with pytest.raises(PubmillError, match="none does not exist; find the duplicates first"):
        read_duplicates(tmp_path / "none", 0)

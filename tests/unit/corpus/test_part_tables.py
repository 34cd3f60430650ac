"""Tables of all citations, and their rows of one part."""

from itertools import repeat
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pubmill.corpus.shards import read_reasons
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
        assert read_reasons(table, shard) == {n: f"r{n}" for n in range(9) if shards[n] == shard}


def test_a_table_that_is_not_there_says_what_makes_it(tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="none does not exist; find the latest versions and"):
        read_reasons(tmp_path / "none", 0)

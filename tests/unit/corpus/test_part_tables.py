"""Tables of all citations, and their rows of one part."""

from itertools import repeat
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pubmill.corpus.part_tables import divide_by_part, read_duplicates, read_reasons
from pubmill.errors import PubmillError
from tests.unit.corpus.test_document_versions import Shard, latest


def test_only_the_parts_of_changed_shards_have_other_bytes(tmp_path: Path) -> None:
    files: list[Shard] = [(0, n, [(pmid, 1, False) for pmid in range(50 * n, 50 * n + 50)]) for n in range(3)]

    def divided(shards: list[Shard]) -> list[bytes]:
        whole = latest(tmp_path, shards)
        outputs = [tmp_path / f"part-{n}.parquet" for n in range(10)]
        divide_by_part(tmp_path / "latest.parquet", 0, outputs)
        assert [list(read_reasons(path, n)) for n, path in enumerate(outputs)][: len(shards)] == whole
        assert [list(read_reasons(path, n)) for n, path in enumerate(outputs)][len(shards) :] == [
            [] for _ in range(10 - len(shards))
        ]
        return [path.read_bytes() for path in outputs]

    before = divided(files)
    after = divided([*files, (0, 3, [(70, 1, False), (149, 1, True)])])
    assert [one == other for one, other in zip(before, after, strict=True)] == [
        True, False, False, False, *[True] * 6,
    ]  # fmt: skip
    divide_by_part(tmp_path / "latest.parquet", 1, [tmp_path / "other.parquet"])
    assert (tmp_path / "other.parquet").read_bytes() == after[1]
    with pytest.raises(PubmillError, match="does not exist"):
        divide_by_part(tmp_path / "none.parquet", 0, [])


@pytest.mark.parametrize("rows_per_group", [1, 2, 3, 100])
def test_parts_are_found_in_row_groups_of_any_size(rows_per_group: int, tmp_path: Path) -> None:
    table, sizes = tmp_path / "duplicates.parquet", [3, 0, 1, 5, 0]
    shards = [shard for shard, size in enumerate(sizes) for _ in repeat(None, size)]
    rows = {
        "shard": pa.array(shards, pa.int32()),
        "position": range(9),
        "reason": [f"r{n}" for n in range(9)],
    }
    pq.write_table(pa.table(rows), table, row_group_size=rows_per_group)
    outputs = [tmp_path / f"part-{n}.parquet" for n in range(5)]
    divide_by_part(table, 0, outputs[:2])
    divide_by_part(table, 2, outputs[2:])
    for shard, output in enumerate(outputs):
        expected = {n: f"r{n}" for n in range(9) if shards[n] == shard}
        assert read_duplicates(table, shard) == read_duplicates(output, shard) == expected
        assert read_duplicates(output, shard + 1) == {}


def test_tables_that_are_not_there_say_what_makes_them(tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="none does not exist; find the latest versions first"):
        next(read_reasons(tmp_path / "none", 0))
    with pytest.raises(PubmillError, match="none does not exist; find the duplicates first"):
        read_duplicates(tmp_path / "none", 0)

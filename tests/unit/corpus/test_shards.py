"""Row groups of parsed shards, and numbers of rows in the manifest."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pubmill.corpus import shards
from pubmill.corpus.shards import Document, read_shard, write_shard
from pubmill.corpus.statistics import PART, write_manifest
from pubmill.storage.parquet import parquet_writer


def groups(path: Path) -> list[int]:
    metadata = pq.read_metadata(path)
    return [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]


def test_row_groups_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By documents and by characters, so that memory does not grow with the source file."""
    monkeypatch.setattr(shards, "ROWS_PER_GROUP", 4)
    monkeypatch.setattr(shards, "CHARACTERS_PER_GROUP", 10)
    short = [Document(id=f"s:{number}") for number in range(9)]
    long = Document(id="t:1", title="four", sections=(("LABEL", "four"),), body=(("", "two"),))
    documents = [*short, long, *short[:3], long._replace(title="")]
    write_shard(tmp_path / "a", documents, source="s", file="f", order=3)
    assert groups(tmp_path / "a") == [4, 4, 2, 4]
    assert list(read_shard(tmp_path / "a")) == list(enumerate(documents))
    assert write_shard(tmp_path / "a", [], source="s", file="f", order=3) == (0, 0)
    assert list(read_shard(tmp_path / "a")) == []


def test_rows_of_a_manifest_count_through_a_part_of_any_size(tmp_path: Path) -> None:
    """Arrow reads 65,536 rows at a time."""
    count, part = 70_000, tmp_path / "part-0000.parquet"
    rows = {name: pa.nulls(count, PART.field(name).type) for name in PART.names}
    rows["id"] = pa.array(map(str, range(count)))
    with parquet_writer(part, PART) as writer:
        writer.write_table(pa.table(rows, PART))
    assert write_manifest(tmp_path / "manifest.parquet", [part, part]) == [count, count]
    found = pq.read_table(tmp_path / "manifest.parquet")
    assert found["row"].to_pylist() == [*range(count)] * 2
    assert found["part"].unique().to_pylist() == ["part-0000"]

"""Checksums of Parquet files: any damage is found, and files of others are read without."""

import random
import re
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pubmill.errors import PubmillError
from pubmill.storage import parquet
from pubmill.storage.database import copy, database

SCHEMA = pa.schema([("id", pa.string()), ("number", pa.int64())])
OTHER, CUT = "it does not agree with its SHA-256", "it is no whole Parquet file"
ROWS = [{"id": f"row {number}", "number": number} for number in range(50)]


def write(path: Path, private: bool = False) -> Path:
    with parquet.parquet_writer(path, SCHEMA, private) as writer:
        writer.write_table(pa.Table.from_pylist(ROWS, SCHEMA))
    return path


def fault(path: Path) -> str | None:
    state = path.stat()
    return parquet.parquet_fault(path, state.st_mtime_ns, state.st_size)


def flip(path: Path, whole: bytes, place: int, bit: int) -> Path:
    """Write a file with one bit changed."""
    path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
    parquet.parquet_fault.cache_clear()
    return path


def test_what_is_written_is_read_with_one_digest_and_labelled_if_it_is_private(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet")
    assert parquet.open_parquet(path).read().to_pylist() == ROWS
    assert path.read_bytes().count(parquet.MARK) == 1 and fault(path) is None
    assert pq.read_table(path).to_pylist() == ROWS  # by any other reader, too
    assert parquet.all_verified([path, path]) == [str(path)] * 2
    private, public = write(tmp_path / "private", True), write(tmp_path / "public")
    assert private.stat().st_mode & 0o077 == 0
    assert parquet.open_parquet(private).metadata.metadata[b"access"] == b"credentialed"
    assert b"access" not in (parquet.open_parquet(public).metadata.metadata or {})
    assert parquet.verified(tmp_path / "none") == tmp_path / "none"
    with pytest.raises(FileNotFoundError):
        parquet.open_parquet(tmp_path / "none")


def test_a_flipped_bit_in_the_seal_changes_no_data(tmp_path: Path) -> None:
    """The seal is not found, and Arrow raises an OSError for the footer."""
    whole = write(tmp_path / "a.parquet").read_bytes()
    path = flip(tmp_path / "b.parquet", whole, int(0.994140625 * len(whole)), 0)
    with pytest.raises((PubmillError, pa.ArrowException, OSError)):
        parquet.open_parquet(path)


@pytest.mark.parametrize("end", [9, 100])
@pytest.mark.parametrize("start", [0, 4, 60])
def test_flipped_bits_are_found_by_the_digest(tmp_path: Path, start: int, end: int) -> None:
    whole = write(tmp_path / "a.parquet").read_bytes()
    for place in (start, len(whole) - end):
        assert fault(flip(tmp_path / "b.parquet", whole, place, 0)) in (OTHER, CUT)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"\0" * 50, b"PAR1" + b"\xff" * 50 + b"PAR1", None])
def test_a_truncated_or_other_file_is_damaged(tmp_path: Path, content: bytes | None) -> None:
    path = write(tmp_path / "a.parquet")
    path.write_bytes(path.read_bytes()[:-9] if content is None else content)
    assert fault(path) == CUT
    with pytest.raises(PubmillError, match=re.escape(f"{path} is damaged: {CUT}. `.venv")):
        parquet.verified(path)


def test_files_are_digested_whole_or_have_no_digest(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.Table.from_pylist(ROWS, SCHEMA), path)
    assert fault(path) == "" and parquet.open_parquet(path).num_row_groups == 1
    parquet.seal(path)
    parquet.parquet_fault.cache_clear()
    assert fault(path) is None and parquet.open_parquet(path).read().to_pylist() == ROWS
    path = tmp_path / "large.parquet"
    values = pa.table({"x": [random.Random(i).randbytes(1 << 18) for i in range(12)]})
    with parquet.parquet_writer(path, values.schema) as writer:
        writer.write_table(values)
    assert path.stat().st_size > 2 << 20 and fault(path) is None
    whole = path.read_bytes()
    assert fault(flip(path, whole, len(whole) - (1 << 20), 0)) == OTHER


def test_queries_write_sealed_files_and_say_what_failed(tmp_path: Path) -> None:
    path = tmp_path / "it's here.parquet"
    with database(tmp_path / "spill", "200MB", "the query failed") as connection:
        copy(connection, "SELECT 1 AS x UNION ALL SELECT 2", path)
    assert fault(path) is None and not (tmp_path / "spill").exists()
    assert sorted(parquet.open_parquet(path).read().column("x").to_pylist()) == [1, 2]
    with pytest.raises(PubmillError, match="^the list cannot be made: "):
        with database(tmp_path, "200MB", "the list cannot be made") as connection:
            connection.execute("SELECT nothing FROM nowhere")
    with pytest.raises(OSError, match="No space left"):
        with database(tmp_path, "200MB", "x"):
            raise duckdb.IOException("Could not write: No space left on device")

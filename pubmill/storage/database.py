"""DuckDB connections for queries over more rows than fit into memory."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from pubmill.errors import PubmillError
from pubmill.storage.parquet import seal


@contextmanager
def database(spill: Path, memory: str, fault: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open an in-memory database that spills to the folder `spill` beyond `memory` (such as `2GB`). DuckDB
    makes the folder when needed and removes it. Errors of DuckDB while it is open are raised as a
    `PubmillError` that begins with `fault`, or as an `OSError` if a disk is full."""
    with duckdb.connect() as connection:
        try:
            connection.execute("SET memory_limit = $memory", {"memory": memory})
            connection.execute("SET temp_directory = $folder", {"folder": str(spill)})
            yield connection
        except duckdb.Error as error:
            if "No space left" in str(error):
                raise OSError(errno.ENOSPC, str(error)) from None
            raise PubmillError(f"{fault}: {error}") from None


def copy(connection: duckdb.DuckDBPyConnection, query: str, path: Path) -> None:
    """Write the result of a query as a sealed Parquet file."""
    target = str(path).replace("'", "''")
    connection.execute(f"COPY ({query}) TO '{target}' (FORMAT parquet, COMPRESSION zstd)")
    seal(path)

"""DuckDB for passes over more rows than memory holds."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from pubmill.errors import PubmillError
from pubmill.storage.parquet import seal


@contextmanager
def database(spill: Path, memory: str, fault: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory, which beyond `memory` (such as `2GB`) spills to the folder `spill`; DuckDB makes
    the folder where it must, and removes it.

    What DuckDB reports while it is open is raised as a `PubmillError` that begins with `fault`, or as an
    `OSError` if a disk is full.
    """
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
    """Write what a query gives as a parquet file, sealed."""
    target = str(path).replace("'", "''")
    connection.execute(f"COPY ({query}) TO '{target}' (FORMAT parquet, COMPRESSION zstd)")
    seal(path)

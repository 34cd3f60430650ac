"""Gzip reading with ISA-L, about three times as fast as the standard library, and lines of gzipped files."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from isal import igzip, isal_zlib

from pubmill.errors import PubmillError

BROKEN = cast(tuple[type[Exception], ...], (EOFError, gzip.BadGzipFile, isal_zlib.error, zlib.error))


def open_gzip(path: Path) -> IO[bytes]:
    """Open a file for reading; opening an empty file and reading damaged data raises one of `BROKEN`."""
    if not path.stat().st_size:  # gzip readers accept an empty file as complete
        raise EOFError("it is empty")
    return cast(IO[bytes], igzip.open(path, "rb"))  # type: ignore[no-untyped-call]


def open_content(path: Path) -> IO[bytes]:
    """Open a file for reading; one whose name ends with `.gz` is decompressed, as by `open_gzip`."""
    if not path.exists():
        raise PubmillError(f"{path} does not exist")
    return open_gzip(path) if path.suffix == ".gz" else path.open("rb")


def read_lines(path: Path, longest: int) -> Iterator[tuple[int, bytes]]:
    """Yield numbered lines with their ends; a file whose name ends with `.gz` is decompressed. Raises
    `PubmillError` with the line for damaged data, and for a line of more than `longest` bytes."""
    number = 0
    try:
        with open_content(path) as raw:
            while line := raw.readline(longest + 1):
                number += 1
                if len(line) > longest:
                    raise PubmillError(f"{path}:{number}: a line of more than {longest:,} bytes")
                yield number, line
    except BROKEN as error:
        raise PubmillError(f"{path}: truncated or damaged gzip after line {number}: {error}") from None

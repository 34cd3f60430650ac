"""Gzip reading with ISA-L, about three times as fast as the standard library."""

import gzip
import zlib
from pathlib import Path
from typing import IO, cast

from isal import igzip, isal_zlib

BROKEN = cast(tuple[type[Exception], ...], (EOFError, gzip.BadGzipFile, isal_zlib.error, zlib.error))


def open_gzip(path: Path) -> IO[bytes]:
    """Open a file for reading; opening an empty file and reading damaged data raises one of `BROKEN`."""
    if not path.stat().st_size:  # gzip readers accept an empty file as complete
        raise EOFError("it is empty")
    return cast(IO[bytes], igzip.open(path, "rb"))  # type: ignore[no-untyped-call]

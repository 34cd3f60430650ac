"""Gzip by way of ISA-L, some three times as fast as the standard library's."""

import gzip
import zlib
from pathlib import Path
from typing import IO, cast

from isal import igzip, isal_zlib

BROKEN = cast(tuple[type[Exception], ...], (EOFError, gzip.BadGzipFile, isal_zlib.error, zlib.error))


def open_gzip(path: Path) -> IO[bytes]:
    """Open for reading; reading what is truncated or damaged raises one of `BROKEN`."""
    return cast(IO[bytes], igzip.open(path, "rb"))  # type: ignore[no-untyped-call]

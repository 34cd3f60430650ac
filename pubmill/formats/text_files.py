"""UTF-8 text files, gzipped or not, of bounded size."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from pubmill.errors import PubmillError

GZIP = ".gz"
_MAGIC = b"\x1f\x8b"
"""First bytes of gzip, with which no UTF-8 text begins."""
LARGEST = 1 << 30
"""Largest file that is read at once or unpacked, in bytes of its content."""


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield numbered lines of a UTF-8 file without their ends and a byte-order mark; only line feeds separate
    them."""
    number = 0
    try:
        with _opened(path) as rows:  # bytes, to know the line that isn't UTF-8
            for number, row in enumerate(rows, 1):
                yield number, row.rstrip(b"\r\n").decode("utf-8-sig" if number == 1 else "utf-8")
    except (OSError, EOFError, zlib.error) as error:
        raise _reading_error(path, error, f" after line {number}") from None
    except UnicodeDecodeError as error:
        raise PubmillError(f"{path}:{number}: not UTF-8: {error.reason}; convert it to UTF-8") from None


def read_text(path: Path) -> str:
    """Read a UTF-8 file without its byte-order mark; line ends stay, so offsets count its characters."""
    try:
        if path.stat().st_size > LARGEST:
            raise PubmillError(f"{path}: more than {LARGEST:,} bytes; split it into several")
        with _opened(path) as file:
            content = file.read()
    except (OSError, EOFError, zlib.error) as error:
        raise _reading_error(path, error, "") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PubmillError(f"{path}:{line}: not UTF-8: {error.reason}; convert it to UTF-8") from None


class BoundedGzip(gzip.GzipFile):
    """A gzip file of which at most `LARGEST` bytes are unpacked."""

    def read(self, size: int | None = -1) -> bytes:
        """Return up to `size` bytes, by default all."""
        return self._within(super().read(LARGEST + 1 if size is None or size < 0 else size))

    def readline(self, size: int | None = -1) -> bytes:
        """Return the next line, or up to `size` bytes of it."""
        return self._within(super().readline(LARGEST + 1 if size is None or size < 0 else size))

    def _within(self, content: bytes) -> bytes:
        if self.tell() > LARGEST:
            raise PubmillError(f"{self.name}: unpacks to more than {LARGEST:,} bytes; split it into several")
        return content


def _opened(path: Path) -> IO[bytes]:
    """Open a file, decompressed if its name or its first bytes are those of gzip."""
    with path.open("rb") as file:
        is_gzip = path.suffix == GZIP or file.read(len(_MAGIC)) == _MAGIC
    if not is_gzip:
        return path.open("rb")
    if not path.stat().st_size:  # Python's gzip accepts an empty file as complete
        raise EOFError
    return BoundedGzip(path)  # type: ignore[return-value]


def _reading_error(path: Path, error: Exception, place: str) -> PubmillError:
    if isinstance(error, OSError) and error.strerror:
        return PubmillError(f"{path}: can't be read: {error.strerror}")
    return PubmillError(f"{path}: not a whole gzip file{place}; make it again")


def check_characters(text: str, where: str) -> str:
    """Return the text if it can be encoded as UTF-8: JSON can contain single surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise PubmillError(
            f"{where}: character {error.start} of a text is half of a surrogate pair; correct it"
        ) from None
    return text

"""Archives read in place: nothing is unpacked, so no member can leave its folder."""

import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from pubmill.errors import PubmillError

LARGEST_MEMBER = 200_000_000
"""Bytes; a member that says it is larger is refused. No file of a known dataset comes near."""


def members(archive: Path) -> Iterator[tuple[str, bytes]]:
    """(name, content) of every plain file in a tar (plain, gzip, bz2, xz) or zip archive, in its order.

    Raises a `PubmillError` for anything that is no whole archive, and for a member too large.
    """
    try:
        if zipfile.is_zipfile(archive):
            yield from _zip_members(archive)
        else:
            yield from _tar_members(archive)
    except FileNotFoundError:
        raise PubmillError(f"{archive} does not exist") from None
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise PubmillError(f"{archive}: not a whole tar or zip archive: {error}; fetch it again") from None


def _tar_members(archive: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isfile():
                _check_size(archive, member.name, member.size)
                content = tar.extractfile(member)
                assert content is not None  # it is a plain file
                yield member.name, content.read()


def _zip_members(archive: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(archive) as zipped:
        for member in zipped.infolist():
            if not member.is_dir():
                _check_size(archive, member.filename, member.file_size)
                yield member.filename, zipped.read(member)


def _check_size(archive: Path, name: str, size: int) -> None:
    if size > LARGEST_MEMBER:
        raise PubmillError(f"{archive}: {name} has {size:,} bytes; expected at most {LARGEST_MEMBER:,}")


def decode(content: bytes, where: str) -> str:
    """A member's text; a `PubmillError` says where it isn't UTF-8."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PubmillError(f"{where}:{line}: not UTF-8: {error.reason}") from None

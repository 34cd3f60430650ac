"""Archives read in place: nothing is unpacked, so no member can leave its folder.

An archive is read whole or not at all: a header that can't be read, or an end that is missing, is an
error and never the end. What is read is bounded, whatever an archive says of itself.
"""

import bz2
import gzip
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, cast

from isal import isal_zlib

from pubmill.errors import PubmillError

LARGEST_MEMBER = 200_000_000
"""Bytes; a member that is larger, or says so, is refused. No file of a known dataset comes near."""
LARGEST_ARCHIVE = 2_000_000_000
"""Bytes of all members together, unpacked."""

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_COMPRESSED: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}
_BLOCK = bytes(512)
"""The block of zeros that ends a tar."""
_AT_ONCE = 1 << 16
MOST_PADDING = 10_000_000
"""Bytes of zeros after the end of a tar."""
BROKEN: tuple[type[Exception], ...] = (
    tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error,
    EOFError, OSError, NotImplementedError, ValueError, OverflowError, RecursionError,
    cast(type[Exception], isal_zlib.error),
)  # fmt: skip
"""All that the libraries are known to raise for archives that are damaged or made to harm."""


def members(archive: Path) -> Iterator[tuple[str, bytes]]:
    """(name, content) of every plain file in a tar (plain, gzip, bz2, xz) or zip archive, in its order.

    Links, devices and folders are left out. Raises a `PubmillError` for anything that is no whole
    archive, for a member that is encrypted, too large or there twice, and for an archive too large.
    """
    seen: set[str] = set()
    try:
        read = _zip_members if _start(archive).startswith(_ZIP) else _tar_members
        for name, content in read(archive):
            if name in seen:
                raise PubmillError(f"{archive}: {name} is in it twice; fetch it again")
            seen.add(name)
            yield name, content
    except FileNotFoundError:
        raise PubmillError(f"{archive} does not exist") from None
    except TooLargeError as error:
        raise PubmillError(f"{archive}: {error}") from None
    except BROKEN as error:
        raise PubmillError(f"{archive}: not a whole tar or zip archive: {error}; fetch it again") from None


def _start(archive: Path) -> bytes:
    with archive.open("rb") as file:
        return file.read(6)


class _Stream:
    """A stream that is read forwards only, up to a limit; remembers what was read last."""

    def __init__(self, stream: IO[bytes], most: int, member: int) -> None:
        self._stream, self._most, self._member = stream, most, member
        self._place = 0
        self.last = b""

    def read(self, size: int) -> bytes:
        """At most `size` bytes; tarfile asks for as many as a header says, the extended ones included."""
        if not 0 <= size <= self._member + len(_BLOCK):
            raise tarfile.ReadError(f"a header asks for {size:,} bytes")
        self.last = self._stream.read(size)
        self._place += len(self.last)
        if self._place > self._most:
            raise _too_large(self._most)
        return self.last

    def seek(self, place: int) -> int:
        """Read on to a place; what lies there must be in the archive."""
        if place < self._place:
            raise tarfile.ReadError("a header points backwards")
        while self._place < place:
            if not self.read(min(place - self._place, _AT_ONCE)):
                raise tarfile.ReadError("unexpected end of data")
        return self._place

    def tell(self) -> int:
        return self._place


class TooLargeError(Exception):
    """A member, or all of an archive, is larger than can be; its message says which and how large."""


def tar_members(
    stream: IO[bytes], largest_member: int, largest_archive: int
) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """Every member of a tar in its order, with its content; that of links, devices and folders is empty.

    `stream` is unpacked already. Raises one of `BROKEN` for what is no whole tar, end included, or holds a
    member of more than `largest_member` bytes, and `TooLargeError` for more than `largest_archive` in all.
    """
    bounded: Any = _Stream(stream, largest_archive, largest_member)
    with tarfile.open(fileobj=bounded, mode="r:") as opened:
        tar: Any = opened
        while (member := tar.next()) is not None:
            _check_name(member.name)
            if member.issparse() or member.size < 0:
                raise tarfile.ReadError(f"{member.name} is sparse, or of {member.size:,} bytes")
            _check_size(member.name, member.size, largest_member)
            content = bounded.read(member.size) if member.isfile() else b""
            bounded.seek(tar.offset)
            yield member, content
            tar.members.clear()  # tarfile keeps them all, for looking back
    _check_end(bounded)


def _check_end(stream: _Stream) -> None:
    """That the tar ended with zeros and nothing follows: tarfile takes any unreadable header, and a file
    that is cut, for the end. Reading on also checks what the compression has to say at its own end."""
    if stream.last != _BLOCK:
        raise tarfile.ReadError("it breaks off, or a header within it is damaged")
    end = stream.tell()
    while rest := stream.read(_AT_ONCE):
        if stream.tell() - end > MOST_PADDING:
            raise TooLargeError(f"more than {MOST_PADDING:,} bytes follow its end")
        if rest.strip(b"\0"):
            raise tarfile.ReadError("something follows its end")


def _tar_members(archive: Path) -> Iterator[tuple[str, bytes]]:
    with _decompressed(archive) as stream:
        for member, content in tar_members(stream, LARGEST_MEMBER, LARGEST_ARCHIVE):
            if member.isfile():
                yield member.name, content


def _decompressed(archive: Path) -> IO[bytes]:
    start = _start(archive)
    for magic, unpack in _COMPRESSED.items():
        if start.startswith(magic):
            unpacked: IO[bytes] = unpack(archive)
            return unpacked
    return archive.open("rb")


def _zip_members(archive: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(archive) as zipped:
        files = [member for member in zipped.infolist() if not member.is_dir()]
        if sum(member.file_size for member in files) > LARGEST_ARCHIVE:
            raise _too_large(LARGEST_ARCHIVE)
        for member in files:
            _check_name(member.filename)
            if not stat.S_ISLNK(member.external_attr >> 16):
                yield member.filename, _zip_member(archive, zipped, member)


def _zip_member(archive: Path, zipped: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    _check_size(member.filename, member.file_size, LARGEST_MEMBER)
    if member.flag_bits & 1:
        raise PubmillError(f"{archive}: {member.filename} is encrypted; unlock and pack it again")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise PubmillError(
            f"{archive}: {member.filename} is packed by method {member.compress_type}, which is not read "
            "here; pack it again by `deflate`, as zip programs do unless told otherwise"
        )
    with zipped.open(member) as content:
        # With a size, zipfile inflates no more than that: a member may hold more than it says. The byte
        # above it makes zipfile reach the end, where it compares the checksum.
        found = content.read(member.file_size + 1)
    if len(found) != member.file_size:
        raise zipfile.BadZipFile(f"{member.filename} is not as large as it says")
    return found


def _check_name(name: str) -> None:
    """That a name is one line, as messages quote it."""
    if any(character < " " for character in name):
        raise ValueError(f"the name of a member holds control characters: {name!r:.80}")


def _check_size(name: str, size: int, most: int) -> None:
    if size > most:
        raise TooLargeError(f"{name} has {size:,} bytes; expected at most {most:,}")


def _too_large(most: int) -> TooLargeError:
    return TooLargeError(f"it has more than {most:,} bytes when unpacked")


def decode(content: bytes, where: str) -> str:
    """A member's text; a `PubmillError` says where it isn't UTF-8."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PubmillError(f"{where}:{line}: not UTF-8: {error.reason}") from None

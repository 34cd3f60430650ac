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
from typing import IO, Any

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
_BROKEN = (
    tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error,
    EOFError, OSError, NotImplementedError, ValueError,
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
    except _BROKEN as error:
        raise PubmillError(f"{archive}: not a whole tar or zip archive: {error}; fetch it again") from None


def _start(archive: Path) -> bytes:
    with archive.open("rb") as file:
        return file.read(6)


class _Bounded:
    """A stream with the end of what may be read; remembers what was read last."""

    def __init__(self, stream: IO[bytes], name: Path) -> None:
        self._stream, self._name = stream, name
        self.last = b""

    def read(self, size: int) -> bytes:
        """At most `size` bytes; tarfile asks for as many as a header says, the extended ones included."""
        if not 0 <= size <= LARGEST_MEMBER + len(_BLOCK):
            raise tarfile.ReadError(f"a header asks for {size:,} bytes")
        self._check(self._stream.tell())
        self.last = self._stream.read(size)
        return self.last

    def seek(self, place: int) -> int:
        self._check(place)
        return self._stream.seek(place)

    def tell(self) -> int:
        return self._stream.tell()

    def _check(self, place: int) -> None:
        if not 0 <= place <= LARGEST_ARCHIVE:
            raise _too_large(self._name)


def _tar_members(archive: Path) -> Iterator[tuple[str, bytes]]:
    with _decompressed(archive) as stream:
        bounded: Any = _Bounded(stream, archive)
        with tarfile.open(fileobj=bounded, mode="r:") as opened:
            tar: Any = opened
            while (member := tar.next()) is not None:
                _check_size(archive, member.name, member.size)
                if member.isfile():
                    yield member.name, tar.extractfile(member).read()
                tar.members.clear()  # tarfile keeps them all, for looking back
        _check_end(bounded)


def _decompressed(archive: Path) -> IO[bytes]:
    start = _start(archive)
    for magic, unpack in _COMPRESSED.items():
        if start.startswith(magic):
            unpacked: IO[bytes] = unpack(archive)
            return unpacked
    return archive.open("rb")


def _check_end(stream: _Bounded) -> None:
    """That the tar ended with zeros and nothing follows: tarfile takes any unreadable header, and a file
    that is cut, for the end. Reading on also checks what the compression has to say at its own end."""
    if stream.last != _BLOCK:
        raise tarfile.ReadError("it breaks off, or a header within it is damaged")
    while rest := stream.read(1_000_000):
        if rest.strip(b"\0"):
            raise tarfile.ReadError("something follows its end")


def _zip_members(archive: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(archive) as zipped:
        files = [member for member in zipped.infolist() if not member.is_dir()]
        if sum(member.file_size for member in files) > LARGEST_ARCHIVE:
            raise _too_large(archive)
        for member in files:
            if not stat.S_ISLNK(member.external_attr >> 16):
                yield member.filename, _zip_member(archive, zipped, member)


def _zip_member(archive: Path, zipped: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    _check_size(archive, member.filename, member.file_size)
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


def _check_size(archive: Path, name: str, size: int) -> None:
    if size < 0:
        raise tarfile.ReadError(f"{name} says that it has {size} bytes")
    if size > LARGEST_MEMBER:
        raise PubmillError(f"{archive}: {name} has {size:,} bytes; expected at most {LARGEST_MEMBER:,}")


def _too_large(archive: Path) -> PubmillError:
    return PubmillError(f"{archive}: it has more than {LARGEST_ARCHIVE:,} bytes when unpacked")


def decode(content: bytes, where: str) -> str:
    """A member's text; a `PubmillError` says where it isn't UTF-8."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PubmillError(f"{where}:{line}: not UTF-8: {error.reason}") from None

"""Readers of compressed files and archives, which unpack nothing to disk: no member can leave its folder.

An archive is read completely or not at all: an unreadable header or a missing end is an error and is never
taken for the end. The number of bytes read is bounded, whatever sizes an archive states.
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
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple, cast

from isal import igzip, isal_zlib

from pubmill.errors import PubmillError
from pubmill.storage.model_folders import CONFIG, COPIED, PICKLED
from pubmill.storage.name_patterns import FILE, fits

LARGEST_MEMBER = 200_000_000
"""Bytes; a member that is larger, or states a larger size, is refused. Real datasets have smaller ones."""
LARGEST_ARCHIVE = 2_000_000_000
"""Bytes of all members together, unpacked."""

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_COMPRESSED: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}
_BLOCK = bytes(512)
"""The block of zeros at the end of a tar."""
_AT_ONCE = 1 << 16
MOST_PADDING = 10_000_000
"""Bytes of zeros after the end of a tar."""
BROKEN: tuple[type[Exception], ...] = (
    tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error,
    EOFError, OSError, NotImplementedError, ValueError, OverflowError, RecursionError,
    cast(type[Exception], isal_zlib.error),
)  # fmt: skip
"""All errors that the libraries are known to raise for damaged or malicious archives."""


GZIP_FAULTS = cast(tuple[type[Exception], ...], (EOFError, gzip.BadGzipFile, isal_zlib.error, zlib.error))
"""Errors of damaged gzip files."""


def open_content(path: Path) -> IO[bytes]:
    """Open a file for reading; one whose name ends with `.gz` is decompressed, by ISA-L, which is three times
    as fast as Python. Opening an empty one and reading damaged data raises one of `GZIP_FAULTS`."""
    if not path.exists():
        raise PubmillError(f"{path} does not exist")
    if path.suffix != ".gz":
        return path.open("rb")
    if not path.stat().st_size:  # gzip readers accept an empty file as complete
        raise EOFError("it is empty")
    return cast(IO[bytes], igzip.open(path, "rb"))  # type: ignore[no-untyped-call]


class Limits(NamedTuple):
    """Largest unpacked size in bytes of one member, and of all members together."""

    member: int
    archive: int


WEIGHTS = Limits(member=6_000_000_000, archive=12_000_000_000)
"""Limits for an archive with a model's weights; a member is in memory while it is read."""


def members(archive: Path, limits: Limits | None = None) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of every plain file in a tar (plain, gzip, bz2, xz) or zip, in archive order.

    Links, devices and folders are left out. Raises a `PubmillError` for a file that is not a complete
    archive, for a member that is encrypted, too large or present twice, and for an archive that is too large.
    The default `limits` are those for datasets.
    """
    limits = limits or Limits(LARGEST_MEMBER, LARGEST_ARCHIVE)
    seen: set[str] = set()
    try:
        with archive.open("rb") as file:
            start = file.read(6)
        if start.startswith(_ZIP):
            found = _zip_members(archive, limits)
        else:
            unpack = next((one for magic, one in _COMPRESSED.items() if start.startswith(magic)), open)
            found = _tar_members(unpack(archive, "rb"), limits)
        for name, content in found:
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


class _Stream:
    """A forward-only stream with a size limit, which remembers the last block read."""

    def __init__(self, stream: IO[bytes], limits: Limits) -> None:
        self._stream, self._limits = stream, limits
        self._place = 0
        self.last = b""

    def read(self, size: int) -> bytes:
        """Read at most `size` bytes; tarfile requests as many as any header states."""
        if not 0 <= size <= self._limits.member + len(_BLOCK):
            raise tarfile.ReadError(f"a header asks for {size:,} bytes")
        self.last = self._stream.read(size)
        self._place += len(self.last)
        if self._place > self._limits.archive:
            raise _too_large(self._limits)
        return self.last

    def seek(self, place: int) -> int:
        """Read up to a position, which must lie within the archive."""
        if place < self._place:
            raise tarfile.ReadError("a header points backwards")
        while self._place < place:
            if not self.read(min(place - self._place, _AT_ONCE)):
                raise tarfile.ReadError("unexpected end of data")
        return self._place

    def tell(self) -> int:
        return self._place


class TooLargeError(Exception):
    """A member or a whole archive exceeds its size limit; the message says which, and its size."""


def tar_members(stream: IO[bytes], limits: Limits) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """Yield every member of a tar in its order, with its content; links, devices and folders have none.

    `stream` must be decompressed. Raises one of `BROKEN` for an incomplete tar (its end included) or a member
    that is too large, and `TooLargeError` for a tar that is.
    """
    bounded: Any = _Stream(stream, limits)
    with tarfile.open(fileobj=bounded, mode="r:") as opened:
        tar: Any = opened
        while (member := tar.next()) is not None:
            _check_name(member.name)
            if member.issparse() or member.size < 0:
                raise tarfile.ReadError(f"{member.name} is sparse, or of {member.size:,} bytes")
            _check_size(member.name, member.size, limits.member)
            content = bounded.read(member.size) if member.isfile() else b""
            bounded.seek(tar.offset)
            yield member, content
            tar.members.clear()  # tarfile keeps all members, to allow seeking back
    # The tar must end with zeros, and nothing may follow: tarfile takes any unreadable header, and a
    # truncated file, for the end. Reading on also verifies the checksum at the end of the compression.
    if bounded.last != _BLOCK:
        raise tarfile.ReadError("it breaks off, or a header within it is damaged")
    end = bounded.tell()
    while rest := bounded.read(_AT_ONCE):
        if bounded.tell() - end > MOST_PADDING:
            raise TooLargeError(f"more than {MOST_PADDING:,} bytes follow its end")
        if rest.strip(b"\0"):
            raise tarfile.ReadError("something follows its end")


def _tar_members(opened: IO[bytes], limits: Limits) -> Iterator[tuple[str, bytes]]:
    with opened as stream:
        for member, content in tar_members(stream, limits):
            if member.isfile():
                yield member.name, content


def _zip_members(archive: Path, limits: Limits) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(archive) as zipped:
        # Not `is_dir()`, which raises IndexError for a name without characters.
        files = [member for member in zipped.infolist() if not member.filename.endswith("/")]
        if sum(member.file_size for member in files) > limits.archive:
            raise _too_large(limits)
        for member in files:
            _check_name(member.filename)
            if stat.S_ISLNK(member.external_attr >> 16):
                continue
            _check_size(member.filename, member.file_size, limits.member)
            if member.flag_bits & 1:
                raise PubmillError(f"{archive}: {member.filename} is encrypted; unlock and pack it again")
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise PubmillError(
                    f"{archive}: {member.filename} is packed by method {member.compress_type}, which is not "
                    "supported; pack it again with `deflate`, the default of zip programs"
                )
            with zipped.open(member) as content:
                # With a size, zipfile inflates no more than that, whatever a member holds. One byte more than
                # the stated size makes zipfile reach the end, where it compares the checksum.
                unpacked = content.read(member.file_size + 1)
            if len(unpacked) != member.file_size:
                raise zipfile.BadZipFile(f"{member.filename} does not have the size that its header states")
            yield member.filename, unpacked


def _check_name(name: str) -> None:
    """Check that a name has characters and is a single line, because messages quote it."""
    if not name:
        raise ValueError("a member has no name")
    if any(character < " " for character in name):
        raise ValueError(f"the name of a member holds control characters: {name!r:.80}")


def _check_size(name: str, size: int, most: int) -> None:
    if size > most:
        raise TooLargeError(f"{name} has {size:,} bytes; expected at most {most:,}")


def _too_large(limits: Limits) -> TooLargeError:
    return TooLargeError(f"it has more than {limits.archive:,} bytes when unpacked")


def decode(content: bytes, where: str) -> str:
    """Return a member's text; a `PubmillError` names the line that is not UTF-8."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PubmillError(f"{where}:{line}: not UTF-8: {error.reason}") from None


def unpack_model(archive: Path, output: Path) -> None:
    """Unpack the model folder of an archive, at any depth in it, as the folder `output`.

    Only files with names of weights or texts are unpacked (`COPIED`, `PICKLED`). Paths in the archive serve
    to distinguish its folders; no file is written to such a path. Raises a `PubmillError` for a damaged
    archive, and unless exactly one of its folders has a config.json.
    """
    names = [*COPIED, PICKLED]
    folders: dict[str, Path] = {}
    models: list[str] = []
    for path, content in members(archive, WEIGHTS):
        inside, name = str(PurePosixPath(path).parent), PurePosixPath(path).name
        if fits(FILE, name) and any(fnmatchcase(name, pattern) for pattern in names):
            folder = folders.setdefault(inside, output.with_name(f"{output.name}.{len(folders)}"))
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
            models += [inside] if name == CONFIG else []
    if len(models) != 1:
        found = ", ".join(sorted(models)) or "none"
        raise PubmillError(
            f"{archive}: expected one folder with a {CONFIG}, found {found}; is it a model in the form of "
            f"Transformers? Checkpoints of fairseq, TensorFlow, Megatron and NeMo are not read here"
        )
    folders[models[0]].rename(output)

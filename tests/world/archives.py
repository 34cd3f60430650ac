"""Archives with the same bytes on every machine: stored without compression, and without dates."""

import io
import tarfile
import zipfile
from collections.abc import Iterable, Mapping
from struct import pack
from zlib import crc32

_LARGEST_BLOCK = 0xFFFF


Members = Iterable[tuple[str, bytes]]


def tarball(files: Mapping[str, bytes]) -> bytes:
    """Return the named files, in their order, as `.tar.gz`."""
    return _stored(tar_of(files.items()))


def tar_of(members: Members) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in members:
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Return the named files, in their order, as `.zip`."""
    return zip_of(files.items())


def zip_of(members: Members) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return packed.getvalue()


def _stored(content: bytes) -> bytes:
    """Return a gzip file of stored blocks (RFC 1951, 3.2.4); the output of `gzip` depends on its zlib."""
    blocks = [content[start : start + _LARGEST_BLOCK] for start in range(0, len(content), _LARGEST_BLOCK)]
    body = b"".join(
        pack("<BHH", block is blocks[-1], len(block), len(block) ^ 0xFFFF) + block for block in blocks
    )
    return b"\x1f\x8b\x08" + bytes(6) + b"\xff" + body + pack("<II", crc32(content), len(content) % 2**32)

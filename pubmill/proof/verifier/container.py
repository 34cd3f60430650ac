"""The archive of a proof: one canonical form, so that no byte of it can change unseen."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import struct
import zlib
from typing import Any, Mapping

import numpy as np

SUMS = "SHA256SUMS"
"""Member with the SHA-256 of every other one, in the form of `sha256sum`."""


class RefusedError(Exception):
    """A proof that does not hold; the message says where."""


def pack(members: Mapping[str, bytes]) -> bytes:
    """Return the ZIP archive of members, in order of name, uncompressed and dated 1980-01-01."""
    parts, listing, place = [], [], 0
    for name, content in sorted(members.items()):
        encoded, size = name.encode(), len(content)
        fields = struct.pack(
            "<HHHHHIIIHH", 20, 1 << 11, 0, 0, 33, zlib.crc32(content), size, size, len(encoded), 0
        )
        listing.append(b"PK\1\2\24\0" + fields + struct.pack("<HHHII", 0, 0, 0, 0, place) + encoded)
        parts += [b"PK\3\4" + fields + encoded, content]
        place += 30 + len(encoded) + size
    directory = b"".join(listing)
    ends = struct.pack("<HHHHIIH", 0, 0, len(listing), len(listing), len(directory), place, 0)
    return b"".join([*parts, directory, b"PK\5\6", ends])


def unpack(data: bytes) -> dict[str, bytes]:
    """Return the members of an archive; refuse one that differs in a byte from what `pack` makes of them."""
    members: dict[str, bytes] = {}
    place = 0
    try:
        while data[place : place + 4] == b"PK\3\4":
            size, name_size = struct.unpack_from("<I4xH", data, place + 18)
            start = place + 30 + name_size
            members[data[place + 30 : start].decode()] = data[start : start + size]
            place = start + size
        same = pack(members) == data
    except (struct.error, ValueError):
        same = False
    if not same:
        raise RefusedError("the archive is damaged: its headers do not fit its members")
    return members


def sums(members: Mapping[str, bytes]) -> bytes:
    """Return the list of the SHA-256 of all members but the list itself."""
    lines = (
        f"{hashlib.sha256(content).hexdigest()}  {name}\n"
        for name, content in sorted(members.items())
        if name != SUMS
    )
    return "".join(lines).encode()


def intact(data: bytes) -> dict[str, bytes]:
    """Return the members of an archive of which no byte has changed since it was made."""
    members = unpack(data)
    if members.get(SUMS) != sums(members):
        listed = members.get(SUMS, b"").decode(errors="replace").splitlines()
        wrong = [line[66:] for line in sums(members).decode().splitlines() if line not in listed]
        raise RefusedError(f"the archive is damaged: {SUMS} does not fit {', '.join(wrong[:3]) or 'itself'}")
    return members


def read_packed(members: Mapping[str, bytes], name: str) -> Any:
    """Return the content of a gzipped JSON file."""
    if name not in members:
        raise RefusedError(f"{name} is missing")
    return json.loads(gzip.decompress(members[name]))


def read_array(members: Mapping[str, bytes], name: str) -> np.ndarray[Any, Any]:
    """Return the content of a gzipped array."""
    if name not in members:
        raise RefusedError(f"{name} is missing")
    found: np.ndarray[Any, Any] = np.load(io.BytesIO(gzip.decompress(members[name])), allow_pickle=False)
    return found

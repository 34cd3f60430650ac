"""The archive of a proof: one canonical form, so that no byte of it can change unseen."""

from __future__ import annotations

import hashlib
import io
import json
import math
import struct
import zlib
from typing import Any, Mapping, Sequence

import numpy as np

SUMS = "SHA256SUMS"
"""Member with the SHA-256 of every other one, in the form of `sha256sum`."""
MOST_TEXT, MOST_VALUES, MOST_COUNTS = 1 << 27, 10_000_000, 1 << 30
"""Largest JSON file, in bytes and in values, and largest array: more could exhaust the memory."""
NUMBERS = ("|u1", "<u2", "<f8")
SHOWN = 200
"""Longest text that is printed from an archive, in characters."""


class RefusedError(Exception):
    """A proof that does not hold; the message says where."""


def visible(text: object) -> str:
    """Return a text from the archive on one line, cut, with all but printable characters as codes, so that it
    can neither hide nor imitate what the program prints."""
    line = "".join(one if one.isprintable() else ascii(one)[1:-1] for one in str(text)[:SHOWN])
    return line if len(str(text)) <= SHOWN else f"{line}..."


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


def inflated(members: Mapping[str, bytes], name: str, most: int) -> bytes:
    """Return the content of a gzipped member, of at most `most` bytes."""
    if name not in members:
        raise RefusedError(f"{name} is missing")
    reader = zlib.decompressobj(31)
    content = reader.decompress(members[name], most)
    if not reader.eof or reader.unused_data:
        raise RefusedError(f"{name} is no single gzip stream of at most {most:,} bytes")
    return content


def read_packed(members: Mapping[str, bytes], name: str) -> Any:
    """Return the content of a gzipped JSON file. Each value has one spelling, so no key is repeated and no
    number is NaN or infinite."""
    text = inflated(members, name, MOST_TEXT)
    if sum(map(text.count, (b",", b"[", b"{"))) > MOST_VALUES:
        raise RefusedError(f"{name} has more than {MOST_VALUES:,} values")
    found = json.loads(text)
    if spelled(found) != text:
        raise RefusedError(
            f"{name} is not spelled as JSON is here: repeated or unordered keys, blanks or NaN"
        )
    return found


def spelled(value: Any) -> bytes:
    """Return the one spelling of JSON values."""
    return json.dumps(
        value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    ).encode()


def read_array(members: Mapping[str, bytes], name: str, shape: Sequence[int]) -> np.ndarray[Any, Any]:
    """Return the content of a gzipped array of this shape: bytes, or numbers of two or eight bytes."""
    content = inflated(members, name, min(MOST_COUNTS, 1024 + 8 * math.prod(shape)))
    file = io.BytesIO(content)
    found: np.ndarray[Any, Any] = np.lib.format.read_array(file, allow_pickle=False)
    if found.shape != tuple(shape) or found.dtype.str not in NUMBERS or file.read(1):
        raise RefusedError(
            f"{name}: {found.shape} of {found.dtype}, expected {tuple(shape)}: its runs, units and names"
        )
    return found

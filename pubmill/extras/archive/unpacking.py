"""Unpack an archive of others into a folder, with bounds on names, sizes and forms."""

import gzip
import hashlib
import itertools
import re
import zipfile
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.formats.json_text import parse_json
from pubmill.storage.archives import BROKEN, LARGEST_MEMBER, decode, members

NAME = re.compile(r"(?!.{400})[A-Za-z0-9_][\w.+=@,-]*(/[A-Za-z0-9_][\w.+=@,-]*)*", re.ASCII)
"""A member's name: a path below the archive's folder, of which no part is hidden."""


def unpack(archive: Path, folder: Path) -> dict[str, str]:
    """Write the members of a zip below an empty folder; return member -> SHA-256. Raises a `PubmillError` for
    a file that is no whole zip of plain files with plain names, each once; for a member that unpacks to more
    than `LARGEST_MEMBER` bytes; and for JSON with repeated keys, NaN or too deep nesting."""
    digests = {}
    try:
        with zipfile.ZipFile(archive) as opened:
            listed = opened.namelist()
        if strange := [name for name in listed if not NAME.fullmatch(name)]:
            raise PubmillError(f"{archive}: {strange[0]!r:.200} is no name of a member")
        for name, content in members(archive):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            digests[name] = hashlib.sha256(content).hexdigest()
            _check_form(path, name, content)
    except FileNotFoundError:
        raise PubmillError(f"{archive} does not exist") from None
    except BROKEN as error:
        raise PubmillError(f"{archive}: not a whole archive: {error}; fetch it again") from None
    if lost := [name for name in listed if name not in digests]:
        raise PubmillError(f"{archive}: {lost[0]} is no plain file")
    return digests


def _check_form(path: Path, name: str, content: bytes) -> None:
    """Check what readers of results do not: strict JSON, and how much compressed files unpack to."""
    if name.endswith(".json"):
        read_strictly(content, name)
    elif name.endswith(".npz"):
        for _ in members(path):
            pass
    elif name.endswith(".gz"):
        with gzip.open(path) as stream:
            for size in itertools.accumulate(iter(lambda: len(stream.read(1 << 20)), 0)):
                if size > LARGEST_MEMBER:
                    raise PubmillError(f"{name} unpacks to more than {LARGEST_MEMBER:,} bytes")


def read_strictly(content: bytes, name: str) -> Any:
    """Return the content of a JSON file without repeated keys, NaN and infinity."""
    return parse_json(decode(content, name), name, numbers_only=True)

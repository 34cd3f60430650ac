"""Small archives for the tests of the clinical converters, taken from the miniature world or written here."""

from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pubmill.convert.source_files import ConverterInput
from pubmill.storage.archives import members
from tests.world import clinical
from tests.world.archives import tarball
from tests.world.lexicon import make_lexicon
from tests.world.part import Part

DEV = {"share": 0.1, "seed": 1}


@cache
def world() -> Part:
    """Return the clinical part of a miniature world."""
    return clinical.part(make_lexicon(7), 8)


def write_world(folder: Path) -> Path:
    """Write the clinical part as a mirror."""
    for path, content in world().files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def pack(path: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write an archive with these members."""
    packed = {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}
    path.write_bytes(tarball(packed))
    return path


def unpack(path: Path) -> dict[str, bytes]:
    return dict(members(path))


def given(split: str, inputs: Mapping[str, Path], **options: Any) -> ConverterInput:
    return ConverterInput(split, inputs, options, Counter())

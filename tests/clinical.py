"""Small archives for the tests of the clinical converters."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pubmill.convert.source_files import ConverterInput
from tests.world.archives import tarball

DEV = {"share": 0.1, "seed": 1}


def pack(path: Path, files: Mapping[str, str | bytes]) -> Path:
    packed = {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}
    path.write_bytes(tarball(packed))
    return path


def given(split: str, inputs: Mapping[str, Path], **options: Any) -> ConverterInput:
    return ConverterInput(split, inputs, options, Counter())

"""What programs make of files that are their owner's alone: licensed text, and all that comes of it."""

import os
from collections.abc import Iterable
from pathlib import Path


def keep_private(inputs: Iterable[Path]) -> None:
    """If any of the files, or of a folder's, is its owner's alone, so is all that this process writes later.

    For programs: what is made of licensed text is licensed too, be it its words or a model's weights.
    """
    if any(_is_private(path) for path in inputs):
        os.umask(0o077)


def _is_private(path: Path) -> bool:
    # safetensors makes files for their owner alone, be they public; so those from elsewhere tell nothing
    files = [file for file in path.iterdir() if file.suffix != ".safetensors"] if path.is_dir() else [path]
    return any(file.is_file() and not file.stat().st_mode & 0o077 for file in files)

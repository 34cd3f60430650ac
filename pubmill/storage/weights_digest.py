"""Identity of a model folder: one digest over all files that determine what the model computes."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from pubmill.storage.files import sha256

REPORT = "training.json"
"""In a task model's folder: how the model was trained."""
HASHED = {".safetensors", ".json", ".txt", ".model"}
"""Suffixes of weights, configurations and tokenizers (SentencePiece's is .model)."""


def hashed_files(folder: Path) -> list[Path]:
    """Return the files that determine what a model computes, by name.

    The training report of a task model is left out, because it contains the duration of the training.
    """
    return [path for path in sorted(folder.iterdir()) if path.suffix in HASHED and path.name != REPORT]


def folder_sha256(folder: Path, digest: Callable[[Path], str] = sha256) -> str | None:
    """Return one hash over the names and contents of a model folder's weights, configuration and tokenizer.

    None if there are none: of a run that diverged only the training report is kept.
    """
    paths, whole = hashed_files(folder), hashlib.sha256()
    for path in paths:
        whole.update(f"{path.name} {digest(path)}\n".encode())
    return whole.hexdigest() if paths else None

"""Identity of a model folder: one digest over all that decides what the model computes."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from pubmill.storage.files import sha256

ACCOUNT = "training.json"
"""In a task model's folder: how the model was trained."""
HASHED = {".safetensors", ".json", ".txt", ".model"}
"""Suffixes of weights, configurations and tokenizers (SentencePiece's is .model)."""


def hashed_files(folder: Path) -> list[Path]:
    """The files that decide what a model computes, by name; a task model's account is left out, for it says
    how long training took."""
    return [path for path in sorted(folder.iterdir()) if path.suffix in HASHED and path.name != ACCOUNT]


def folder_sha256(folder: Path, digest: Callable[[Path], str] = sha256) -> str | None:
    """One hash over a model folder's weights, configuration and tokenizer: names and contents.

    None where nothing is there: of a run that diverged only the account is kept.
    """
    paths, whole = hashed_files(folder), hashlib.sha256()
    for path in paths:
        whole.update(f"{path.name} {digest(path)}\n".encode())
    return whole.hexdigest() if paths else None

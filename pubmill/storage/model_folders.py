"""Model folders: names of their files, checks, identity, and unpacking from archives."""

import hashlib
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from pubmill.errors import PubmillError
from pubmill.storage import archives
from pubmill.storage.files import sha256
from pubmill.storage.name_patterns import FILE, fits

CONFIG, WEIGHTS = "config.json", "model.safetensors"
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json")
"""Files of every tokenizer made here."""
VOCABULARY_FILES = ("vocab.txt", "vocab.json", "merges.txt", "spiece.model")
"""Files that a tokenizer may have beside them, by its kind."""
COPIED = ("*.safetensors", "*.json", "*.txt", "*.model", "README.md", "LICENSE*")
"""Files copied from a model folder made elsewhere: weights and texts, no code."""
PICKLED = "pytorch_model.bin"
"""Weights as a pickle, which are only read as tensors and written as safetensors."""
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model")
"""A tokenizer has at least one of these files; without any, transformers would make an empty tokenizer."""
REPORT = "training.json"
"""In a task model's folder: how the model was trained."""
HASHED = {".safetensors", ".json", ".txt", ".model"}
"""Suffixes of weights, configurations and tokenizers (SentencePiece's is .model)."""


def folder_fault(folder: Path) -> str | None:
    """Return why a folder is not a model with its tokenizer, and which files it holds; None if it is one."""
    if not folder.is_dir():
        return "is not a folder" if folder.exists() else "does not exist"
    try:
        found = sorted(path.name for path in folder.iterdir() if path.is_file())
    except OSError as error:
        return f"can't be read ({error.strerror})"
    lacking = {
        CONFIG: CONFIG in found,
        f"weights (*.safetensors or {PICKLED})": any(
            name == PICKLED or name.endswith(".safetensors") for name in found
        ),
        f"tokenizer ({', '.join(TOKENIZERS[:-1])} or {TOKENIZERS[-1]})": any(
            name in found for name in TOKENIZERS
        ),
    }
    if missing := [part for part, is_there in lacking.items() if not is_there]:
        return f"has no {', no '.join(missing)}; its files: {', '.join(found) or 'none'}"
    return None


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


def unpack_model(archive: Path, output: Path) -> None:
    """Unpack the model folder of an archive, at any depth in it, as the folder `output`.

    Only a folder's own files with the names of weights and texts are unpacked. Paths in the archive only tell
    its folders apart and are never paths of files that are written. Raises a `PubmillError` for a damaged
    archive, and unless exactly one of its folders has a config.json.
    """
    names = [*COPIED, PICKLED]
    folders: dict[str, Path] = {}
    models: list[str] = []
    for path, content in archives.members(archive, archives.WEIGHTS):
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

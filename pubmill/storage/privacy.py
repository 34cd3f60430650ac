"""Access classes: who may have a file, and so all that is made of it.

The class is a label in the data themselves, so that copies keep it whatever becomes of their modes: in
`card.json` of a dataset, `training.json` of a run, the metadata of Parquet (`pubmill.storage.corpus_parts`),
the header of gzipped predictions, model cards, and `access.json` of other folders and beside files without a
place for it. Public data have no label, except in cards of datasets. Modes protect labelled files as well:
only their owner may read them.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.storage.result_paths import CARD, PREDICTIONS, TRAINING

PUBLIC, CREDENTIALED = "public", "credentialed"
CLASSES = (PUBLIC, "registration", CREDENTIALED)
"""From the most open to the strictest."""
LABEL = "access.json"
_KEY = "access"
_LABELLED = (LABEL, CARD, "training.json")
"""Files of a folder that say its class."""

_PROCESS = {_KEY: PUBLIC}
"""The strictest class of what this process has read: like its umask, it holds for all that it writes."""


def keep_private(inputs: Iterable[Path], *classes: str) -> str:
    """Return the strictest of some classes and of those of inputs, and give it to all that is written later.

    For programs: what is made of licensed text is licensed too, be it its words or a model's weights. An
    input without a label that its owner alone may read passes this mode on.
    """
    paths = list(inputs)
    _PROCESS[_KEY] = strictest([_PROCESS[_KEY], *classes, *map(access_of, paths)])
    if _PROCESS[_KEY] != PUBLIC or any(map(_is_closed, paths)):
        os.umask(0o077)
    return _PROCESS[_KEY]


def strictest(classes: Iterable[str]) -> str:
    """The strictest of some classes; public if there are none."""
    return max(classes, key=CLASSES.index, default=PUBLIC)


def access_of(path: Path) -> str:
    """The access class of a file or folder, by its labels; public if there are none.

    Parquet is read by `pubmill.storage.corpus_parts.access_of_parts`: training programs run without pyarrow.
    """
    return strictest(_labels(path))


def label_of_process() -> dict[str, str]:
    """What this process adds to accounts and metadata that it writes: its class, unless that is public."""
    return {} if _PROCESS[_KEY] == PUBLIC else dict(_PROCESS)


def write_label(folder: Path) -> None:
    """Write the class of this process into a folder, unless it is public."""
    _write(folder / LABEL)


def write_label_beside(path: Path) -> None:
    """Write the class of this process beside a file that has no place for it, unless it is public."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _write(_beside(path))


def gzip_name() -> str:
    """The name for the header of a gzipped file: the class of this process, "" if it is public."""
    return "".join(f"{key}={value}" for key, value in label_of_process().items())


def _write(path: Path) -> None:
    path.unlink(missing_ok=True)
    if label := label_of_process():
        path.write_text(json.dumps(label) + "\n", encoding="utf-8")


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.{LABEL}")


def _labels(path: Path) -> Iterator[str]:
    if path.is_dir():
        yield from (_in_json(path / name) for name in _LABELLED)
        yield _in_card(path / "README.md")
    elif path.is_file():
        yield _in_json(_beside(path))
        yield from (_in_json(path.with_name(name)) for name in (LABEL, "card.json"))
        if path.name.endswith(PREDICTIONS):
            yield _in_json(path.with_name(path.name.removesuffix(PREDICTIONS) + TRAINING))
        if path.suffix == ".gz":
            yield _in_gzip(path)


def _in_json(path: Path) -> str:
    if not path.is_file():
        return PUBLIC
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise PubmillError(f"{path}: not valid JSON, so it is unknown who may have these data") from None
    return known_class(told.get(_KEY, PUBLIC) if isinstance(told, dict) else PUBLIC, path)


def _in_card(path: Path) -> str:
    """From the metadata at the top of a model card."""
    if not path.is_file():
        return PUBLIC
    with path.open(encoding="utf-8", errors="replace") as card:
        top = re.match(r"---\n(.*?)\n---", card.read(1 << 16), re.DOTALL)
    found = re.search(r'(?m)^pubmill_access: "?([a-z]+)"?$', top[1]) if top else None
    return known_class(found[1], path) if found else PUBLIC


def _in_gzip(path: Path) -> str:
    """From the file name in a gzip header (RFC 1952), where `gzip_name` puts it."""
    with path.open("rb") as packed:
        head = packed.read(100)
    if head[:3] != b"\x1f\x8b\x08" or head[3:4] != b"\x08":
        return PUBLIC
    key, _, value = head[10:].split(b"\0", 1)[0].decode("latin-1").partition("=")
    return known_class(value, path) if key == _KEY else PUBLIC


def known_class(value: object, path: Path) -> str:
    """A class as it is written in `path`; a `PubmillError` if there is no such class."""
    if value not in CLASSES:
        raise PubmillError(f"{path}: {_KEY} is {value!a:.80}; expected one of {', '.join(CLASSES)}")
    return str(value)


def _is_closed(path: Path) -> bool:
    # safetensors makes files for their owner alone, be they public; so those from elsewhere tell nothing
    files = [file for file in path.iterdir() if file.suffix != ".safetensors"] if path.is_dir() else [path]
    return any(file.is_file() and not file.stat().st_mode & 0o077 for file in files)

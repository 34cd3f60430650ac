"""Access classes: who may have a file and everything derived from it.

The class is a label in the data themselves, so that copies keep it even if their modes change: in `card.json`
of a dataset, `training.json` of a run, the metadata of Parquet (`pubmill.storage.parquet`), the header
of gzipped predictions, model cards, and `access.json` in other folders and beside files that cannot hold a
label. Public data have no label, except in cards of datasets. Modes protect labelled files as well: only
their owner may read them.
"""

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from pubmill.errors import PubmillError
from pubmill.storage.result_paths import CARD, PREDICTIONS, TRAINING

PUBLIC: Final = "public"
LOCAL: Final = "local"
CREDENTIALED: Final = "credentialed"
CLASSES = (PUBLIC, "registration", LOCAL, CREDENTIALED)
"""Access classes, from the most open to the strictest; `local` data are the user's own."""
LABEL = "access.json"
_KEY = "access"
_LABELLED = (LABEL, CARD, "training.json")
"""Files that may hold the label of their folder."""

_PROCESS = {_KEY: PUBLIC}
"""The strictest class this process has read: like its umask, it applies to everything the process writes."""


def keep_private(inputs: Iterable[Path], *classes: str) -> str:
    """Return the strictest class among `classes` and the inputs', and apply it to all later outputs. For
    programs: whatever is derived from licensed text is licensed too, whether words or a model's weights. If
    an input without a label is readable only by its owner, the outputs get this mode as well."""
    paths = list(inputs)
    _PROCESS[_KEY] = strictest([_PROCESS[_KEY], *classes, *map(access_of, paths)])
    if _PROCESS[_KEY] != PUBLIC or any(map(_is_closed, paths)):
        os.umask(0o077)
    return _PROCESS[_KEY]


def strictest(classes: Iterable[str]) -> str:
    """Return the strictest of some classes; public if there are none."""
    return max(classes, key=CLASSES.index, default=PUBLIC)


def access_of(path: Path) -> str:
    """Return the access class of a file or folder from its labels; public if there are none. For Parquet use
    `pubmill.storage.parquet.access_of_parts`: training programs run without pyarrow."""
    if path.is_dir():
        labels = [path / name for name in _LABELLED]
        return strictest([*map(_class_in_json, labels), _class_in_card(path / "README.md")])
    if not path.is_file():
        return PUBLIC
    labels = [path.with_name(name) for name in (f"{path.name}.{LABEL}", LABEL, CARD)]
    if path.name.endswith(PREDICTIONS):
        labels.append(path.with_name(path.name.removesuffix(PREDICTIONS) + TRAINING))
    classes = map(_class_in_json, labels)
    return strictest([*classes, _class_in_gzip(path) if path.suffix == ".gz" else PUBLIC])


def label_of_process() -> dict[str, str]:
    """Return the class of this process as metadata to add to its outputs; empty if the class is public."""
    return {} if _PROCESS[_KEY] == PUBLIC else dict(_PROCESS)


def write_label_beside(path: Path) -> None:
    """Write the class of this process beside a file that cannot hold a label, unless it is public."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_label(path.with_name(f"{path.name}.{LABEL}"))


def gzip_name() -> str:
    """Return the file name for a gzip header: the class of this process, or "" if it is public."""
    return "".join(f"{key}={value}" for key, value in label_of_process().items())


def write_label(path: Path) -> None:
    """Write the class of this process as the label `path`, unless it is public."""
    path.unlink(missing_ok=True)
    if label := label_of_process():
        path.write_text(json.dumps(label) + "\n", encoding="utf-8")


def _class_in_json(path: Path) -> str:
    if not path.is_file():
        return PUBLIC
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise PubmillError(f"{path}: not valid JSON, so it is unknown who may have these data") from None
    return known_class(content.get(_KEY, PUBLIC) if isinstance(content, dict) else PUBLIC, path)


def _class_in_card(path: Path) -> str:
    """Return the class in the metadata at the top of a model card."""
    if not path.is_file():
        return PUBLIC
    with path.open(encoding="utf-8", errors="replace") as card:
        top = re.match(r"---\n(.*?)\n---", card.read(1 << 16), re.DOTALL)
    match = re.search(r'(?m)^pubmill_access: "?([a-z]+)"?$', top[1]) if top else None
    return known_class(match[1], path) if match else PUBLIC


def _class_in_gzip(path: Path) -> str:
    """Return the class in the file name of a gzip header (RFC 1952), as `gzip_name` writes it."""
    with path.open("rb") as packed:
        head = packed.read(100)
    if head[:3] != b"\x1f\x8b\x08" or head[3:4] != b"\x08":
        return PUBLIC
    key, _, value = head[10:].split(b"\0", 1)[0].decode("latin-1").partition("=")
    return known_class(value, path) if key == _KEY else PUBLIC


def known_class(value: object, path: Path) -> str:
    """Return a class that was read from `path`; raise a `PubmillError` if it is unknown."""
    if value not in CLASSES:
        raise PubmillError(f"{path}: {_KEY} is {value!a:.80}; expected one of {', '.join(CLASSES)}")
    return str(value)


def _is_closed(path: Path) -> bool:
    # safetensors makes all files readable only by their owner, so their modes do not show the class
    files = [file for file in path.iterdir() if file.suffix != ".safetensors"] if path.is_dir() else [path]
    return any(file.is_file() and not file.stat().st_mode & 0o077 for file in files)

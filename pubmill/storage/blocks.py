"""Blocks: jobs that each work on several files of a corpus, of which only new or changed ones are made again.

The only declared output of such a job is a manifest, written last. The files themselves may belong to several
blocks, as those of sources that corpora share. A hidden record beside the first file of each item states what
the item was made from and what its files contain, so a killed job, or a block with one file more, goes on
where an earlier one stopped.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pubmill.errors import PubmillError
from pubmill.storage.files import REMAKE, read_json, sealed, sha256, write_json

MADE_FROM = "made_from"
"""Key of the digest of all that determines a file, which is made again if that changes: in a manifest, one
for each file's path relative to it; in the training report of a seed, one for its files."""
SHOWN = 5
"""Most errors of a block that its message quotes."""


class Item(NamedTuple):
    """One thing that a block's job makes. `files`: its files in one folder; `made_from`: all that determines
    them, as JSON (version, recipe, hashes of inputs); `make`: writes each of them whole or not at all."""

    files: Sequence[Path]
    made_from: Any
    make: Callable[[], object]


def digest_of(file: Path) -> str:
    """Return the SHA-256 of a file that an item is made from; a `PubmillError` if it is not there."""
    if not file.is_file():
        raise PubmillError(f"{file} is missing, although the job that makes it has run. {REMAKE}")
    return sha256(file)


def make_block(manifest: Path, items: Iterable[Item]) -> None:
    """Make the items of a block that are missing, damaged, or made from something else; write its manifest.

    An item that fails does not stop the others: a `PubmillError` quotes the errors at the end, and the same
    command goes on with these items only.
    """
    made_from, made, number = dict[str, str](), 0, 0
    errors: list[PubmillError] = []
    for number, item in enumerate(items, 1):  # noqa: B007
        key = hashlib.sha256(repr(item.made_from).encode()).hexdigest()
        try:
            record = item.files[0].with_name(f".{item.files[0].name}.made")
            if not _is_made(item, record, key):
                record.unlink(missing_ok=True)  # it does not describe files of which only some are replaced
                item.make()
                digests = {file.name: sha256(file) for file in item.files}
                write_json(record, sealed({MADE_FROM: key, "files": digests}))
                made += 1
        except PubmillError as error:
            errors.append(error)
        made_from |= {os.path.relpath(file, manifest.parent): key for file in item.files}
    if errors:
        more = [f"and {len(errors) - SHOWN} more"] if len(errors) > SHOWN else []
        raise PubmillError("\n".join([*map(str, errors[:SHOWN]), *more])) from errors[0].__cause__
    write_json(manifest, sealed({MADE_FROM: made_from}))
    print(f"{manifest.stem}: {made} of {number} made, the others are there")


def _is_made(item: Item, record: Path, key: str) -> bool:
    try:
        known = read_json(record)
        return known[MADE_FROM] == key and all(known["files"][f.name] == sha256(f) for f in item.files)
    except (PubmillError, OSError, KeyError, TypeError):  # no record, a damaged one, or a file is missing
        return False

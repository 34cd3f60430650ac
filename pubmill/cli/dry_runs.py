"""Dry runs write nothing: they work in a temporary stand-in for the current folder."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pubmill.cli.studies import DRY
from pubmill.messages.installation import DRY_RUN, OWN, SETTINGS, VIEW

COPIED = (*OWN, *SETTINGS, VIEW.name, "tests/world/mirror")
"""Files and folders that verbs may change before a run; a dry run changes copies."""
STATE, RECORDS = ".snakemake", (".snakemake/metadata", ".snakemake/incomplete")
"""Snakemake's folder, and what it reads there to know which jobs are to run."""


def writes_nothing_if_dry(verb: Callable[..., None]) -> Callable[..., None]:
    """Return a verb that, given an option of `DRY`, runs in a stand-in for the current folder."""

    @wraps(verb)
    def run(**given: Any) -> None:
        if DRY.isdisjoint(given["context"].args):
            verb(**given)
            return
        with stand_in():
            verb(**given)

    return run


@contextmanager
def stand_in() -> Iterator[None]:
    """Work in a temporary folder with copies of `COPIED` and links to all else, also beside the folder."""
    here = Path.cwd()
    with TemporaryDirectory(prefix="pubmill-dry-run-") as made:
        folder = Path(made).resolve() / here.name
        for path in here.parent.iterdir():
            (folder.parent / path.name).symlink_to(path)
        folder.unlink()
        folder.mkdir()
        _fill(here, folder, "")
        os.environ[DRY_RUN] = "1"
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(here)
            del os.environ[DRY_RUN]


def _fill(real: Path, folder: Path, below: str) -> None:
    """Fill a folder of the stand-in, whose path in it is `below`."""
    for path in real.iterdir():
        name, made = f"{below}{path.name}", folder / path.name
        if name in COPIED:
            shutil.copytree(path, made, symlinks=True) if path.is_dir() else shutil.copy2(path, made)
        elif any(one.startswith(f"{name}/") for one in (*COPIED, *RECORDS)):
            made.mkdir()
            _fill(path, made, f"{name}/")
        elif name in RECORDS or not name.startswith(STATE):
            made.symlink_to(path)

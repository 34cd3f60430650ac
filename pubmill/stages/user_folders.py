"""Folders of files that the user supplies, by the keys that specs name, and digests of such files."""

import json
import os
import time
from contextlib import suppress
from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.messages import commands
from pubmill.messages.installation import DRY_RUN
from pubmill.specs.study import Study
from pubmill.storage.files import sha256


def how_to_bring(key: str) -> str:
    """Return the instruction for supplying the user's files that a spec names by a key."""
    return (
        f"set local_files: {{{key}: /path/to/folder}} in the configuration (or "
        f"{commands.local_files(key)}), or put them into local/{key} of the mirror"
    )


class UserFolders:
    """A user's folders: `local_files.KEY` of the configuration, or `local/KEY` in the mirror."""

    def __init__(self, study: Study) -> None:
        self._study = study

    def find(self, key: str) -> Path | None:
        """Return the folder of a key; None if the configuration names none and the mirror has none."""
        if key in self._study.local_files:
            return _without_braces(Path(self._study.local_files[key]).expanduser(), key)
        folder = Path(self._study.mirror) / "local" / key if self._study.mirror else None
        return _without_braces(folder, key) if folder and folder.is_dir() else None

    def setting(self, key: str) -> str:
        """Return where a folder is specified: a key of the configuration, or the mirror."""
        return f"local_files.{key}" if key in self._study.local_files else f"local/{key} of the mirror"

    def require(self, key: str, who: str) -> Path:
        """Return the folder of a key; a `PubmillError` if there is none."""
        folder = self.find(key)
        if folder is None:
            others = ", ".join(sorted(self._study.local_files))
            known = f"; local_files has only {others}" if others else ""
            raise PubmillError(f"{who} needs files of your own: {how_to_bring(key)}{known}")
        return folder


def _without_braces(folder: Path, key: str) -> Path:
    """Return the folder; a `PubmillError` if its path has braces."""
    if set("{}") & set(str(folder.resolve())):
        raise PubmillError(
            f"{folder} ({key}): Snakemake takes braces in a path for wildcards; rename the folder or file"
        )
    return folder


SETTLED = 2.0
"""A digest is stored only if the file last changed more than this many seconds ago: another change within the
clock's resolution could leave size and times unchanged."""


class Digests:
    """Digests of files, stored as lines of JSON (path, size, time of content, time of inode, SHA-256). Only
    its owner may read the store: it names files of the user's own. Lines are only appended; the last one
    of a path counts. If the store can't be read or written, or in a dry run, files are only read again."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self._known: dict[str, tuple[list[int], str]] | None = None

    def of(self, path: Path) -> str:
        """Return the SHA-256 of a file in hex; it is read only if it has changed since it was last read."""
        name, state = str(path.resolve()), _file_state(path)
        known = self._read_store()
        if name in known and known[name][0] == state:
            return known[name][1]
        digest = sha256(path)
        known[name] = (state, digest)
        if state == _file_state(path) and time.time() - max(state[1:]) / 1e9 > SETTLED:
            self._append_line([name, *state, digest])
        return digest

    def of_folder(self, folder: Path, pattern: str = "*") -> dict[str, str]:
        """Return the digests of a folder's files by their names, relative to it."""
        files = sorted(path for path in folder.glob(pattern) if path.is_file())
        return {path.relative_to(folder).as_posix(): self.of(path) for path in files}

    def _read_store(self) -> dict[str, tuple[list[int], str]]:
        if self._known is None:
            self._known = {}
            try:
                lines = self.store.read_text(encoding="utf-8").splitlines()
            except (OSError, UnicodeDecodeError):
                lines = []
            for line in lines:
                with suppress(ValueError, TypeError, RecursionError):  # damaged, such as by a killed process
                    name, *state, digest = json.loads(line)
                    self._known[str(name)] = state, str(digest)
        return self._known

    def _append_line(self, line: list[str | int]) -> None:
        if DRY_RUN in os.environ:
            return
        with suppress(OSError):  # a results folder that is read only
            self.store.parent.mkdir(parents=True, exist_ok=True)
            to = os.open(self.store, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(to, json.dumps(line).encode() + b"\n")
            finally:
                os.close(to)


def _file_state(path: Path) -> list[int]:
    """Return size, mtime and ctime of a file, the times in ns; no program can set back the ctime."""
    state = path.stat()
    return [state.st_size, state.st_mtime_ns, state.st_ctime_ns]

"""Records on disk that no job of the study makes, and whether the current recipes would make them."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pubmill.errors import PubmillError
from pubmill.graph.models import OFF_THE_SHELF
from pubmill.graph.record_digests import LineageTargets
from pubmill.storage.files import read_json, sha256
from pubmill.storage.model_folders import WEIGHTS
from pubmill.storage.result_paths import run_of
from pubmill.storage.weights_digest import folder_sha256, hashed_files

UNREADABLE = "can't be read"
OTHER_RECIPES = "by other recipes or stage versions than the present ones"
NO_ITEMS = "without what each document contributes to them"
OTHER_EXAMPLES = "of other examples than the present ones"
OTHER_WEIGHTS = "of another model than the present one"


class Found(NamedTuple):
    """Records on disk beyond those that a study makes. `records`: column -> row -> paths below the results
    folder, of which at least one is there; `stale`: `column/row` -> why its records on disk are not shown."""

    records: dict[str, dict[str, list[str]]]
    stale: dict[str, str]


class FoundTargets(LineageTargets):
    """Records on disk, and whether tables may show them."""

    def at_hand(self, records: Sequence[str]) -> list[str]:
        """Return those records that are on disk; paths are below the results folder."""
        return [path for path in records if Path(self.paths.at(path)).is_file()]

    def stale(self, record: str) -> str | None:
        """Why a record on disk is not what the present recipes would make; None if it is.

        Examples and weights that changed after it was scored are compared by content; those that are gone say
        nothing against it.
        """
        path = Path(self.paths.at(record))
        try:
            found = read_json(path)
        except PubmillError:
            return UNREADABLE
        if not isinstance(found, dict) or found.get("made_by") != self._present(record):
            return OTHER_RECIPES
        if not Path(self.paths.contributions(str(path))).is_file():
            return NO_ITEMS
        if self._examples_differ(found, path):
            return OTHER_EXAMPLES
        return OTHER_WEIGHTS if self._weights_differ(found, path) else None

    def _present(self, record: str) -> str | None:
        """Return the digest of the current recipes; None if the run is no longer possible."""
        try:
            return self.made_by(*run_of(record)[:4])
        except PubmillError:
            return None

    def _examples_differ(self, found: dict[str, Any], record: Path) -> bool:
        hashes = {**found["trained_on_sha256"], found["split"]: found["data_sha256"]}
        files = {Path(self.paths.examples(found["dataset"], split)): sha for split, sha in hashes.items()}
        return any(_is_newer(file, record) and self.digests.of(file) != sha for file, sha in files.items())

    def _weights_differ(self, found: dict[str, Any], record: Path) -> bool:
        if found["protocol"] == OFF_THE_SHELF:
            return False  # a pipeline is read where the user has it, which this study need not name
        run = found["protocol"], found["model"], found["dataset"], found["setting"]
        folder = Path(self.first_model(*run))
        if not (folder / WEIGHTS).is_file():
            return False
        changed = any(_is_newer(file, record) for file in hashed_files(folder))
        return changed and folder_sha256(folder, self.digests.of) != found["model_sha256"]

    def digest_of(self, records: Sequence[str]) -> str:
        """One digest over the contents of records on disk."""
        lines = [f"{path} {sha256(Path(self.paths.at(path)))}\n" for path in self.at_hand(records)]
        return hashlib.sha256("".join(lines).encode()).hexdigest() if lines else ""


def _is_newer(file: Path, record: Path) -> bool:
    """Whether a file is there and was changed after a record."""
    return file.is_file() and file.stat().st_mtime_ns > record.stat().st_mtime_ns

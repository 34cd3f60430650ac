"""Puts the files of the checkout that pubmill needs beside its modules into the package: pubmill/_data."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from pubmill.hardware.provenance import COMMIT, commit
from pubmill.messages.installation import FILES, MODULES, OWN

MADE = ("__pycache__", "mirror", ".digests.jsonl")
"""What runs write into these folders."""


def data_files() -> Iterator[Path]:
    """Yield the files relative to the checkout."""
    for name in (*FILES, *OWN):
        place = HERE / name
        for path in [place] if place.is_file() else sorted(place.rglob("*")):
            if path.is_file() and not set(MADE).intersection(path.relative_to(HERE).parts):
                yield path.relative_to(HERE)


class BuildWithData(build_py):
    """Builds the modules, and copies the other files beside them; an editable package needs no copies."""

    def run(self) -> None:
        if self.editable_mode:
            super().run()
            return
        for name in MODULES:  # an earlier build may have left files that are no more
            shutil.rmtree(Path(self.build_lib) / name, ignore_errors=True)
        super().run()
        data = Path(self.build_lib) / "pubmill/_data"
        for path in data_files():
            (data / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(HERE / path, data / path)
        if made_of := commit(HERE):
            (data / COMMIT).write_text(f"{made_of}\n", encoding="utf-8")

    def get_source_files(self) -> list[str]:
        """Return what a source distribution holds."""
        return [*super().get_source_files(), *map(str, data_files())]


class SourceWithCommit(sdist):
    """A source distribution, which says of which commit it is; a wheel that is built from it says so, too."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        if made_of := commit(HERE):
            (Path(base_dir) / COMMIT).write_text(f"{made_of}\n", encoding="utf-8")


setup(cmdclass={"build_py": BuildWithData, "sdist": SourceWithCommit})

"""Source files of a run: jobs compare what they import with the digests from the beginning of the run.

Snakemake records versions and recipes when it builds the graph, but each job imports the working tree as it
is when the job starts. A job whose sources changed in between is refused. Standard library only.
"""

import hashlib
import json
import os
import sys
from collections.abc import Iterable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from pubmill.errors import PubmillError

VARIABLE = "PUBMILL_RUN_SOURCES"
"""Environment variable of jobs: the file with the digests; without it nothing is compared."""
NO_SOURCES = ("pubmill.errors", "pubmill.messages", "pubmill.specs", "pubmill.stages")
"""Modules not compared by programs: messages are no output, and a stage reads its recipe, not the specs."""
TEMPLATES = "templates"
"""The folder beside modules whose files they read without importing them."""
OF_GRAPH = (
    *("Snakefile", "rules/**/*.smk", "specs/**/*.yaml", "pubmill/stages/*.py", "pubmill/specs/*.py"),
    "pubmill/extras/**/*.py",
)
"""Files that decide commands and recipes; a job on a cluster reads them again."""
OF_PROGRAMS = ("scripts/*.py", "pubmill/**/*")
SHOWN = 5


def run_sources(root: Path, configfiles: Iterable[str | Path]) -> dict[str, dict[str, str]]:
    """Return the SHA-256 of the sources of the checkout `root` and of its configuration files, by real path:
    `graph`, those from which the graph is made, and `programs`, those of the programs."""
    return {"graph": _digests(root, OF_GRAPH, configfiles), "programs": _digests(root, OF_PROGRAMS)}


def _digests(root: Path, patterns: Iterable[str], more: Iterable[str | Path] = ()) -> dict[str, str]:
    found = (path for pattern in patterns for path in root.glob(pattern))
    paths = [path for path in found if path.is_file() and path.suffix != ".pyc"]
    return {os.path.realpath(path): _digest(path) for path in (*paths, *more)}


def _digest(path: str | Path) -> str:
    path = Path(path)
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def watch() -> None:
    """Compare the program and the modules that it has imported with the digests of its run, and from now on
    each module when it is imported; a `PubmillError` names those that have changed."""
    if not (known := _known("programs")):
        return
    finder = _Comparing(known)
    loaded = [(name, getattr(module, "__file__", None)) for name, module in sys.modules.items()]
    finder.compare(path for name, file in loaded for path in _files(name, file))
    sys.meta_path.insert(0, finder)


def check_graph_sources() -> None:
    """Raise a `PubmillError` if a file from which the graph is made has changed since the run began."""
    known = _known("graph")
    _refuse_changed(path for path, digest in known.items() if _digest(path) != digest)


class _Comparing(MetaPathFinder):
    """Compares each module of pubmill before it is imported, and leaves the import to the other finders."""

    def __init__(self, known: dict[str, str]) -> None:
        self.known = known

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.startswith("pubmill."):
            spec = PathFinder.find_spec(fullname, path)
            self.compare(_files(fullname, spec.origin if spec else None))
        return None

    def compare(self, files: Iterable[str]) -> None:
        paths = map(os.path.realpath, files)
        _refuse_changed(path for path in paths if _digest(path) != self.known.get(path))


def _files(module: str, origin: str | None) -> list[str]:
    """Return the sources of a program or module: its file, and the files that it reads."""
    counts = module == "__main__" or module.startswith("pubmill.")
    if not origin or not counts or any(f"{module}.".startswith(f"{name}.") for name in NO_SOURCES):
        return []
    read = (path for path in Path(origin).parent.glob(f"{TEMPLATES}/*") if path.is_file())
    return [origin, *map(str, read)]


def _known(part: str) -> dict[str, str]:
    """Return the digests of this job's run; empty if no run started this program."""
    file = os.environ.get(VARIABLE)
    if not file:
        return {}
    try:
        digests: Any = json.loads(Path(file).read_text(encoding="utf-8"))
        return dict(digests[part])
    except (OSError, ValueError, KeyError, TypeError):
        raise PubmillError(
            f"{file}, which lists the sources of this run, cannot be read. Run the same command again"
        ) from None


def _refuse_changed(changed: Iterable[str]) -> None:
    root = os.path.realpath(Path(__file__).parents[2])
    names = sorted({os.path.relpath(path, root) for path in changed})
    if names:
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        raise PubmillError(
            f"changed since this run began: {', '.join(names[:SHOWN])}{more}. The job would not compute what "
            "its run records, so it writes nothing. Run the same command again; if the change alters "
            "results, raise the version of the stage first (CONTRIBUTING.md)"
        )

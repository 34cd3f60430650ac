"""Trials of mutations: the tests of a room, run in forked processes in a copy of the checkout."""

import contextlib
import gc
import importlib
import json
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.imports import imported
from tests.mutations.points import Mutation

OWN = ("pubmill", "scripts", "tests")
NOT_COPIED = {
    Path(name)
    for name in (".git", ".venv", ".snakemake", ".hypothesis", "results", "data", "tests/world/mirror")
}
OPTIONS = ("-x", "-q", "-m", "not long", "-p", "no:cacheprovider")
PASSED = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
FORKING = multiprocessing.get_context("fork")
_CHECKOUTS: list["Checkout"] = []
"""The copy of this process, if it tries mutations."""


@dataclass(frozen=True)
class Unchanged:
    """A test file's run without any mutation: its time, and the modules that it has imported.

    A file that fails has none, and catches no mutation.
    """

    seconds: float
    modules: frozenset[str]


@dataclass
class Checkout:
    """A copy of a checkout in which one file at a time is changed.

    Attributes:
        folder: The copy.
        runs: The runs of test files without a mutation, so far as they were needed.
    """

    folder: Path
    runs: dict[str, Unchanged] = field(default_factory=dict)

    def catches(self, mutation: Mutation) -> bool:
        """Whether a test of the mutation's room fails with it; the file is restored afterwards."""
        name = module_name(mutation.path)
        for files in files_for(self.folder, mutation.path):
            reaching = [file for file in files if name in self._unchanged(file).modules]
            if reaching and self._fails(mutation, reaching):
                return True
        return False

    def _fails(self, mutation: Mutation, files: Sequence[str]) -> bool:
        limit = 30 + 5 * sum(self._unchanged(file).seconds for file in files)
        path = self.folder / mutation.path
        text, unchanged = path.read_text(encoding="utf-8"), path.stat()
        path.write_text(mutation.apply(text), encoding="utf-8")
        try:
            return not passes(self.folder, files, limit)
        finally:
            path.write_text(text, encoding="utf-8")
            os.utime(path, ns=(unchanged.st_atime_ns, unchanged.st_mtime_ns))  # its bytecode is valid again

    def _unchanged(self, file: str) -> Unchanged:
        if file not in self.runs:
            start = time.monotonic()
            loaded = self.folder.with_suffix(".loaded")
            if passes(self.folder, [file], None, loaded):
                modules = json.loads(loaded.read_text())
            else:
                modules = []
                print(f"left out: {file}, which fails without any mutation", file=sys.stderr, flush=True)
            self.runs[file] = Unchanged(time.monotonic() - start, frozenset(modules))
            _import_third_party(modules)
        return self.runs[file]


def survivors(root: Path, chosen: Sequence[Mutation], jobs: int = 1) -> list[Mutation]:
    """Try mutations of a checkout in `jobs` processes, and return the survivors."""
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
        with ProcessPoolExecutor(jobs, FORKING, _prepare, (root, folder)) as pool:
            found = []
            for mutation, caught in zip(chosen, pool.map(_is_caught, chosen), strict=True):
                print("caught  " if caught else "survived", mutation.name, file=sys.stderr, flush=True)
                found += [] if caught else [mutation]
            return found


def _prepare(root: Path, folder: str) -> None:
    _CHECKOUTS.append(copy_checkout(root, Path(folder, str(os.getpid()))))


def _is_caught(mutation: Mutation) -> bool:
    return _CHECKOUTS[-1].catches(mutation)


def copy_checkout(root: Path, folder: Path) -> Checkout:
    """Copy a checkout, with the times of its files but without results and caches."""

    def ignored(parent: str, names: list[str]) -> list[str]:
        below = Path(parent).relative_to(root)
        return [
            name for name in names if below / name in NOT_COPIED or name.endswith(("_cache", "__pycache__"))
        ]

    shutil.copytree(root, folder, ignore=ignored)
    return Checkout(folder)


def files_for(root: Path, module: Path) -> list[list[str]]:
    """Return the test files of a module, the closest first: of its room those named after it, then those
    importing it; those of other rooms that import it, unless it is a package; the others of its room."""
    groups: list[list[str]] = [[], [], [], []]
    for path in sorted((root / "tests/unit").rglob("test_*.py")):
        in_room = path.is_relative_to(root / "tests/unit" / module.parts[1])
        named = in_room and path.stem.startswith(f"test_{module.stem}")
        imports = module_name(module) in imported(path)
        if in_room:
            groups[0 if named else 1 if imports else 3].append(path.relative_to(root).as_posix())
        elif imports and module.name != "__init__.py":
            groups[2].append(path.relative_to(root).as_posix())
    return groups


def module_name(path: Path) -> str:
    """Return the name under which the file at a relative path is imported."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def passes(folder: Path, files: Sequence[str], limit: float | None, loaded: Path | None = None) -> bool:
    """Whether test files pass in a checkout within `limit` seconds; `loaded` receives the
    modules that they import."""
    process = FORKING.Process(target=_test, args=(folder, files, loaded))
    process.start()
    assert process.pid
    process.join(limit)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # it, if it is endless, and what it has started
    process.join()
    return process.exitcode in PASSED


def _test(folder: Path, files: Sequence[str], loaded: Path | None) -> None:
    """Run test files in this process and leave with pytest's status.

    Only a run without mutation, which writes what it has imported to `loaded`, also writes bytecode.
    """
    os.setsid()
    os.chdir(folder)
    for number in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    for name in [name for name in sys.modules if name.partition(".")[0] in OWN]:
        del sys.modules[name]
    sys.path.insert(0, str(folder))
    if not loaded:
        sys.dont_write_bytecode = True
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    status = pytest.main([*OPTIONS, f"--basetemp={folder}.temporary", *files])
    if loaded:
        loaded.write_text(json.dumps(list(sys.modules)))
    os._exit(status)


def _import_third_party(names: Sequence[str]) -> None:
    """Import what tests have imported, so that the following processes need not."""
    for name in names:
        if name not in sys.modules and name.partition(".")[0] not in OWN:
            with contextlib.suppress(Exception):
                importlib.import_module(name)
    gc.collect()
    gc.freeze()  # no collection in a fork walks through, and so copies, all that is imported here

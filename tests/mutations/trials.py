"""Trials of mutations: test files, run in forked processes in copies of the checkout."""

import contextlib
import gc
import multiprocessing
import os
import pkgutil
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

import tests.conftest  # noqa: F401 (sets the number of torch's threads, before torch is imported here)
from tests.imports import imported
from tests.mutations.points import Mutation
from tests.mutations.selection import OWN, files_for, importers

NOT_COPIED = {
    Path(name)
    for name in (".git", ".venv", ".snakemake", ".hypothesis", "results", "data", "tests/world/mirror")
}
OPTIONS = ("-x", "-q", "-m", "not long", "-p", "no:cacheprovider")
PASSED = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
LIMIT = 180.0
"""Seconds after which a test that usually takes fewer than 20 counts as endless, even on a busy machine."""
FORKING = multiprocessing.get_context("fork")
_CHECKOUTS: list["Checkout"] = []
"""The copy of this process, if it tries mutations."""


@dataclass
class Checkout:
    """A copy of a checkout in which one file at a time is changed.

    Attributes:
        folder: The copy.
        sound: Tests that passed without a mutation.
        broken: Tests, or files that can't be imported, that fail without a mutation, and so catch none.
    """

    folder: Path
    sound: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)

    def catches(self, mutation: Mutation, groups: Sequence[Sequence[str]]) -> bool:
        """Whether a test of these groups of files fails with the mutation, and passes without it."""
        for files in groups:
            while test := self._first_failure_with(mutation, files):
                if test not in self.sound and first_failure(self.folder, [test]):
                    print(f"left out: {test}, which fails without any mutation", file=sys.stderr, flush=True)
                    self.broken.add(test)
                else:
                    self.sound.add(test)
                    return True
        return False

    def _first_failure_with(self, mutation: Mutation, files: Sequence[str]) -> str | None:
        path = self.folder / mutation.path
        text, unchanged = path.read_text(encoding="utf-8"), path.stat()
        path.write_text(mutation.apply(text), encoding="utf-8")
        try:
            return first_failure(
                self.folder, [file for file in files if file not in self.broken], self.broken
            )
        finally:
            path.write_text(text, encoding="utf-8")
            os.utime(path, ns=(unchanged.st_atime_ns, unchanged.st_mtime_ns))  # its bytecode is valid again


def survivors(root: Path, chosen: Sequence[Mutation], jobs: int = 1) -> list[Mutation]:
    """Try mutations of a checkout in `jobs` processes, and return the survivors."""
    importing = importers(root)
    groups = [files_for(root, mutation.path, importing) for mutation in chosen]
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
        unchanged = Path(folder, "unchanged")
        copy_checkout(root, unchanged)
        _compile(unchanged)
        with ProcessPoolExecutor(jobs, FORKING, _prepare, (unchanged,)) as pool:
            found = []
            for mutation, caught in zip(chosen, pool.map(_is_caught, chosen, groups), strict=True):
                print("caught  " if caught else "survived", mutation.name, file=sys.stderr, flush=True)
                found += [] if caught else [mutation]
            return found


def _prepare(unchanged: Path) -> None:
    folder = unchanged.with_name(str(os.getpid()))
    shutil.copytree(unchanged, folder)
    _import_third_party(folder)
    _CHECKOUTS.append(Checkout(folder))


def _is_caught(mutation: Mutation, groups: Sequence[Sequence[str]]) -> bool:
    return _CHECKOUTS[-1].catches(mutation, groups)


def copy_checkout(root: Path, folder: Path) -> None:
    """Copy a checkout, with the times of its files but without results and caches."""

    def ignored(parent: str, names: list[str]) -> list[str]:
        below = Path(parent).relative_to(root)
        return [
            name for name in names if below / name in NOT_COPIED or name.endswith(("_cache", "__pycache__"))
        ]

    shutil.copytree(root, folder, ignore=ignored)


def first_failure(folder: Path, tests: Sequence[str], left_out: Sequence[str] | set[str] = ()) -> str | None:
    """Return the first of some tests of a checkout to fail or to be endless, or the file that can't be
    imported; None if all pass."""
    if not tests:
        return None
    receiver, sender = FORKING.Pipe(duplex=False)
    options = (*OPTIONS, *(f"--deselect={test}" for test in left_out), *tests)
    process = FORKING.Process(target=_test, args=(folder, options, sender))
    process.start()
    sender.close()
    assert process.pid
    started, ended = tests[0], False
    with contextlib.suppress(EOFError):
        while not ended and receiver.poll(LIMIT):
            message = receiver.recv()
            ended = message is None
            started = message or started
    if ended:
        process.join()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # it, if it is endless, and what it has started
    process.join()
    return None if process.exitcode in PASSED else started


@dataclass(frozen=True)
class Reporter:
    """A plugin of pytest that sends the name of each test that starts, and of each file not imported."""

    sender: Connection

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Send the name of a test."""
        self.sender.send(nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Send the name of a file whose import fails."""
        if report.failed:
            self.sender.send(report.nodeid)


def _test(folder: Path, options: Sequence[str], sender: Connection) -> None:
    """Run pytest in this process, and leave with its status."""
    _enter(folder)
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    status = pytest.main([*options, f"--basetemp={folder}.temporary"], plugins=[Reporter(sender)])
    sender.send(None)
    os._exit(status)


def _compile(folder: Path) -> None:
    """Import all unit tests in another process, which writes bytecode, so that the trials need not compile."""
    process = FORKING.Process(target=_collect, args=(folder,))
    process.start()
    process.join()


def _collect(folder: Path) -> None:
    _enter(folder)
    sys.dont_write_bytecode = False
    os._exit(pytest.main(["--collect-only", "-p", "no:cacheprovider", "tests/unit"]))


def _enter(folder: Path) -> None:
    """Make this process, and what it starts, a group that runs the code of a copy, and prints nothing."""
    os.setsid()
    os.chdir(folder)
    for number in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    for name in [name for name in sys.modules if name.partition(".")[0] in OWN]:
        del sys.modules[name]
    sys.path.insert(0, str(folder))


def _import_third_party(root: Path) -> None:
    """Import what the package and its tests import from elsewhere, so that the trials need not."""
    names = {name for folder in OWN for path in (root / folder).rglob("*.py") for name in imported(path)}
    for name in sorted(names):
        if name.partition(".")[0] not in OWN:
            with contextlib.suppress(Exception):
                pkgutil.resolve_name(name)
    gc.collect()
    gc.freeze()  # no collection in a fork walks through, and so copies, all that is imported here

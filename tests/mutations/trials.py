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
import time
from collections.abc import Collection, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

import tests.conftest  # noqa: F401 (sets the number of torch's threads, before torch is imported here)
from tests.imports import imported
from tests.mutations.points import Mutation
from tests.mutations.selection import OWN, files_for, importers

NOT_COPIED = {Path(name) for name in (".git", ".venv", ".snakemake", ".hypothesis", "results", "data")}
OPTIONS = ("-x", "-q", "-m", "not long", "-p", "no:cacheprovider")
PASSED = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
LIMIT = 180.0
"""Seconds after which a test that usually takes fewer than 20 counts as endless, even on a busy machine."""
FORKING = multiprocessing.get_context("fork")
_CHECKOUTS: list["Checkout"] = []
"""The copy of this process, if it tries mutations."""


@dataclass(frozen=True)
class Run:
    """What came of some tests: the first that failed or was endless, or the file that can't be imported;
    and the seconds of each file, so far as its tests ran."""

    failure: str | None
    seconds: dict[str, float]


@dataclass
class Checkout:
    """A copy of a checkout in which one file at a time is changed.

    Attributes:
        folder: The copy.
        sound: Tests that passed without a mutation.
        broken: Tests, or files that can't be imported, that fail without a mutation, and so catch none.
        seconds: The longest time of each test file so far.
    """

    folder: Path
    sound: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    seconds: dict[str, float] = field(default_factory=dict)

    def catches(self, mutation: Mutation, groups: Sequence[Sequence[str]]) -> bool:
        """Whether a test of these groups of files fails with the mutation, and passes without it."""
        for group in groups:
            files = sorted(group, key=lambda file: self.seconds.get(file, 0))
            while test := self._first_failure_with(mutation, files):
                if test not in self.sound and run(self.folder, [test]).failure:
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
            done = run(self.folder, [file for file in files if file not in self.broken], self.broken)
        finally:
            path.write_text(text, encoding="utf-8")
            os.utime(path, ns=(unchanged.st_atime_ns, unchanged.st_mtime_ns))  # its bytecode is valid again
        for file, seconds in done.seconds.items():
            self.seconds[file] = max(seconds, self.seconds.get(file, 0))
        return done.failure


def survivors(root: Path, chosen: Sequence[Mutation], jobs: int = 1) -> list[Mutation]:
    """Try mutations of a checkout in `jobs` processes, and return the survivors."""
    importing = importers(root)
    groups = {mutation: files_for(mutation.path, importing) for mutation in chosen}
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
        unchanged = Path(folder, "unchanged")
        copy_checkout(root, unchanged)
        _compile(unchanged)
        with ProcessPoolExecutor(jobs, FORKING, _prepare, (unchanged,)) as pool:
            trials = {pool.submit(_is_caught, mutation, groups[mutation]): mutation for mutation in chosen}
            for trial in as_completed(trials):
                outcome = "caught  " if trial.result() else "survived"
                print(outcome, trials[trial].name, file=sys.stderr, flush=True)
            return [mutation for trial, mutation in trials.items() if not trial.result()]


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


def run(folder: Path, tests: Sequence[str], left_out: Collection[str] = ()) -> Run:
    """Run tests of a checkout until one fails, or is endless."""
    if not tests:
        return Run(None, {})
    receiver, sender = FORKING.Pipe(duplex=False)
    options = (*OPTIONS, *(f"--deselect={test}" for test in left_out), *tests)
    process = FORKING.Process(target=_test, args=(folder, options, sender))
    process.start()
    sender.close()
    test, status, seconds = _follow(receiver)
    assert process.pid
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # it, if it is endless, and what it has started
    process.join()
    return Run(None if status in PASSED else test or tests[0], seconds)


def _follow(receiver: Connection) -> tuple[str, int | None, dict[str, float]]:
    """Return the test that a run started last, its exit status (None after a crash or with an endless
    test), and the seconds of each file."""
    test, status, seconds, start = "", None, dict[str, float](), 0.0
    with contextlib.suppress(EOFError):
        while status is None and receiver.poll(LIMIT):
            message, now = receiver.recv()
            if test:
                file = test.partition("::")[0]
                seconds[file] = seconds.get(file, 0) + now - start
            start = now
            if isinstance(message, str):
                test = message
            else:
                status = message
    return test, status, seconds


@dataclass(frozen=True)
class Reporter:
    """A plugin of pytest that sends the name and time of each test that starts, and of each file not
    imported."""

    sender: Connection

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Send the name of a test."""
        self.sender.send((nodeid, time.monotonic()))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Send the name of a file whose import fails."""
        if report.failed:
            self.sender.send((report.nodeid, time.monotonic()))


def _test(folder: Path, options: Sequence[str], sender: Connection) -> None:
    """Run pytest in this process, and send its status."""
    _enter(folder)
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    status = pytest.main([*options, f"--basetemp={folder}.temporary"], plugins=[Reporter(sender)])
    sender.send((int(status), time.monotonic()))
    os._exit(status)


def _compile(folder: Path) -> None:
    """Import all unit tests in another process that writes bytecode, so that trials need not compile."""
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

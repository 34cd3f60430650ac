"""A separate project for each test: a copy of the checkout's code and specs, and the miniature world.

Its Snakemake and jobs are forks of one process that has imported their libraries (tests/warm.py), except
where a test kills them, changes the environment that libraries read, or runs what a user types.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.making import made_once
from tests.waiting import patience, wait_until
from tests.warm import Warm
from tests.workflow import planner

CODE = (
    *("Snakefile", "config.yaml", "envs", "pubmill", "profiles", "rules", "scripts", "specs", "studies"),
    "snakemake_logger_plugin_pubmill",
)
TABLE = "results/demo/tables/demo/gu2020-table06.html"


ALONE = ("unshare", "--map-root-user", "--net")
"""Prefix of a command that runs it without any network, not even the loopback interface."""


@dataclass(frozen=True)
class Project:
    """A folder with pubmill's code, a configuration and possibly results.

    `before`: prefix of its commands.
    `python`: the Python that runs Snakemake and its jobs, unless a command has a prefix.
    """

    folder: Path
    before: tuple[str, ...] = ()
    python: str = sys.executable

    def command(self, *arguments: str) -> list[str]:
        start = (*self.before, sys.executable if self.before else self.python)
        return [*start, "-m", "snakemake", "--profile", "profiles/local", "--cores", "2", *arguments]

    def run(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run Snakemake to its end; a failing test shows its output."""
        done = subprocess.run(
            self.command(*arguments), cwd=self.folder, text=True, capture_output=True, timeout=patience(1200),
            check=False,
        )  # fmt: skip
        if check:
            assert done.returncode == 0, done.stdout + done.stderr
        return done

    def planned(self, *targets: str) -> dict[str, int]:
        return jobs_of(self.run("-n", *targets))

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace text that must occur exactly once."""
        path = self.folder / file
        text = path.read_text()
        assert text.count(old) == 1, f"{old!r} is {text.count(old)} times in {file}"
        path.write_text(text.replace(old, new))

    def kill_when(self, *targets: str, ready: Callable[[], bool]) -> None:
        """Start Snakemake and kill it and all its jobs (SIGKILL) as soon as `ready` holds."""
        process = self.start_until(ready, targets)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        wait_until_gone(process.pid)

    def orphan_when(self, *targets: str, ready: Callable[[], bool]) -> int:
        """Start Snakemake and kill it alone as soon as `ready` holds; its jobs survive, but are stopped.

        Returns their process group, to be sent SIGCONT.
        """
        process = self.start_until(ready, targets)
        os.killpg(process.pid, signal.SIGSTOP)
        process.kill()
        process.wait()
        return process.pid

    def start_until(self, ready: Callable[[], bool], targets: tuple[str, ...]) -> subprocess.Popen[bytes]:
        """Start Snakemake in a process group with its jobs; return as soon as `ready` holds."""
        command = replace(self, python=sys.executable).command(*targets)
        with (self.folder / "killed.log").open("w") as log:
            process = subprocess.Popen(
                command, cwd=self.folder, stdout=log, stderr=log, start_new_session=True
            )
        try:
            while not ready():
                assert process.poll() is None, (self.folder / "killed.log").read_text()
                time.sleep(0.001)
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        return process


@dataclass(frozen=True)
class Planning(Project):
    """A project whose plans need no start of Snakemake."""

    def planned(self, *targets: str) -> dict[str, int]:
        return planner.planned(self.python, self.folder, *targets)


def wait_until_gone(group: int) -> None:
    """Wait for the end of a process group whose members are not children of this process."""

    def gone() -> bool:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        return False

    wait_until(gone, 60, f"the end of process group {group}")


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    def make(folder: Path) -> None:
        subprocess.run([sys.executable, "-m", "tests.world", str(folder)], cwd=root, check=True)

    return made_once(tmp_path_factory, "world", make)


def copy_code(root: Path, folder: Path) -> Path:
    """Copy the checkout's code and specs into a folder; return the folder.

    Compiled modules come along, so that the first jobs of each project do not compile them again.
    """
    ignored = shutil.ignore_patterns("*.pyc.*")  # being written
    for name in CODE:
        source = root / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=ignored)
        else:
            shutil.copy2(source, folder / name)
    return folder


def make_project(root: Path, world: Path, folder: Path) -> Project:
    """Make a project whose demo takes less than a minute.

    It has two datasets and a few steps of the first recipe in the scale's file.
    """
    project = Project(copy_code(root, folder))
    scale = folder / "specs/scales/demo.yaml"
    text = scale.read_text()
    for pattern, new, most in (
        (r"layers: \d+, hidden_size: \d+, attention_heads: \d+, intermediate_size: \d+",
         "layers: 1, hidden_size: 32, attention_heads: 2, intermediate_size: 64", 1),
        (r"\n      steps: \d+", "\n      steps: 40", 1),
        (r"checkpoints: \[.*\]", "checkpoints: [20, 40]", 1),
        (r"epochs: \d+", "epochs: 1", 0),
        (r"epochs: \[\d+\]", "epochs: [1]", 0),
    ):  # fmt: skip
        text, count = re.subn(pattern, new, text, count=most)
        assert count >= 1, pattern
    scale.write_text(text)
    config = folder / "config.yaml"
    text, count = re.subn(r"(?m)^datasets: .*$", "datasets: [bc5-chem, jnlpba]", config.read_text())
    assert count == 1
    text = re.sub(r"save_minutes: .*", "save_minutes: 0", text)
    config.write_text(re.sub(r"mirror: .*", f"mirror: {world}", text))
    # Braces in text must stay text: Snakemake treats them as wildcards wherever it formats a string.
    project.edit("specs/models/no-pretraining.yaml", "label: No", "label: '{id} {wildcards.model} {0}' # No")
    return project


def ended(words: Sequence[str | Path], folder: Path, **environment: str) -> str:
    """Return the output of a command that must succeed, with these variables if there are any."""
    done = subprocess.run(
        words, cwd=folder, env=environment or None, text=True, capture_output=True, timeout=patience(1200),
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def jobs_of(done: subprocess.CompletedProcess[str]) -> dict[str, int]:
    """Return the number of jobs by rule that a run of Snakemake has printed."""
    said = done.stdout + done.stderr
    jobs = dict(re.findall(r"^([a-z_]+) +(\d+)$", said.partition("Job stats:")[2], re.MULTILINE))
    assert jobs or "Nothing to be done" in said, said
    return {rule: int(count) for rule, count in jobs.items() if rule not in ("total", "all")}


def can_be_alone() -> bool:
    found = shutil.which("unshare")
    return bool(found) and subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode == 0


@pytest.fixture
def project(root: Path, world: Path, tmp_path: Path, python: str) -> Project:
    return replace(make_project(root, world, tmp_path), python=python)


@pytest.fixture(scope="session")
def finished(root: Path, world: Path, tmp_path_factory: pytest.TempPathFactory, python: str) -> Project:
    """A project that was run to its end without interruption. Read only: tests change a copy.

    It ran without a network if the system allows that.
    """
    before = ALONE if can_be_alone() else ()

    def make(folder: Path) -> None:
        with closing(Warm(before)) as warm:
            replace(make_project(root, world, folder), python=warm.python).run()

    return Project(made_once(tmp_path_factory, "finished", make), before, python)


def copy_of(project: Project, folder: Path) -> Project:
    shutil.copytree(project.folder, folder, copy_function=shutil.copy2)
    return replace(project, folder=folder, before=())


@pytest.fixture
def copy(finished: Project, tmp_path: Path) -> Project:
    return copy_of(finished, tmp_path / "copy")

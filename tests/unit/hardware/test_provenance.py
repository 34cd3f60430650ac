"""Commit, packages and hardware of a record, and the number of cores."""

import os
import platform
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pubmill.hardware import provenance
from pubmill.hardware.process_limits import cores


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_the_commit_of_a_checkout_says_whether_its_files_have_changed(tmp_path: Path) -> None:
    assert provenance.commit(tmp_path) is None
    git(tmp_path, "init", "-q")
    assert provenance.commit(tmp_path) is None  # nothing is committed
    (tmp_path / "file").write_text("1")
    git(tmp_path, "add", "file")
    git(tmp_path, "commit", "-qm", "first")
    git(tmp_path, "tag", "v1")
    commit = git(tmp_path, "rev-parse", "HEAD")
    assert len(commit) == 40 and provenance.commit(tmp_path) == commit
    (tmp_path / "other").touch()  # not tracked
    assert provenance.commit(tmp_path) == commit
    (tmp_path / "file").write_text("2")
    assert provenance.commit(tmp_path) == f"{commit}-dirty"


def test_the_commit_is_that_of_the_checkout_whatever_git_dir_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("own", "other"):
        (tmp_path / name).mkdir()
        git(tmp_path / name, "init", "-q")
        git(tmp_path / name, "commit", "-qm", name, "--allow-empty")
    own = git(tmp_path / "own", "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other/.git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "other"))
    assert provenance.commit(tmp_path / "own") == own


def test_without_git_there_is_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert provenance.commit(tmp_path) is None


def test_an_installed_package_has_the_commit_that_it_was_built_from(tmp_path: Path) -> None:
    (tmp_path / provenance.COMMIT).write_text("abc-dirty\n")
    assert provenance.commit(tmp_path) == "abc-dirty"


def test_only_installed_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "PACKAGES", ("numpy", "no-such-package"))
    assert provenance.packages() == {"numpy": metadata.version("numpy")}


def test_a_record_has_commit_packages_python_and_hardware() -> None:
    found = provenance.provenance()
    assert list(found) == ["commit", "packages", "python", "hardware"]
    assert found["python"] == platform.python_version()
    hardware = found["hardware"]
    assert list(hardware) == ["platform", "cpu", "cores", "memory", "gpus"]
    assert hardware["cores"] == cores() >= 1 and hardware["platform"] == platform.platform()
    assert hardware["memory"] == os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


CPUINFO = "processor\t: 0\nmodel\t\t: 143\nmodel name\t: A: fast one\nmodel name\t: another\n"


def test_the_processor_is_named_as_linux_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_text", lambda path, encoding: CPUINFO)
    assert provenance.provenance()["hardware"]["cpu"] == "A: fast one"
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "machine")

    def missing(path: Path, encoding: str) -> str:
        raise FileNotFoundError

    for reading in (missing, lambda path, encoding: "processor: 0"):
        monkeypatch.setattr(Path, "read_text", reading)
        assert provenance.provenance()["hardware"]["cpu"] == "machine"
    monkeypatch.setattr(platform, "processor", lambda: "other")
    assert provenance.provenance()["hardware"]["cpu"] == "other"


@pytest.mark.parametrize(("available", "names"), [(True, ["GPU 0", "GPU 1"]), (False, [])])
def test_gpus_are_asked_for_only_if_torch_is_there(
    monkeypatch: pytest.MonkeyPatch, available: bool, names: list[str]
) -> None:
    cuda = SimpleNamespace(
        is_available=lambda: available, device_count=lambda: 2, get_device_name=lambda number: f"GPU {number}"
    )
    torch: Any = SimpleNamespace(cuda=cuda)
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert provenance.provenance()["hardware"]["gpus"] == names
    monkeypatch.delitem(sys.modules, "torch")
    assert provenance.provenance()["hardware"]["gpus"] == []


def test_cores_are_those_that_the_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0: {1, 4, 5}}[process], raising=False)
    assert cores() == 3
    monkeypatch.delattr(os, "sched_getaffinity")  # macOS has none
    for known, expected in ((6, 6), (None, 1)):
        monkeypatch.setattr(os, "cpu_count", lambda known=known: known)
        assert cores() == expected

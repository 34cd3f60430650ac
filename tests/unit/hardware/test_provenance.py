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


def test_the_commit_of_a_checkout_says_whether_its_files_have_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the variables of git name; without git there is none, but an installed package has the commit
    that it was built from."""
    assert provenance.commit(tmp_path) is None
    (tmp_path / "installed").mkdir()
    (tmp_path / "installed" / provenance.COMMIT).write_text("abc-dirty\n")
    assert provenance.commit(tmp_path / "installed") == "abc-dirty"
    git(tmp_path, "init", "-q")
    assert provenance.commit(tmp_path) is None  # nothing is committed
    (tmp_path / "file").write_text("1")
    git(tmp_path, "add", "file")
    git(tmp_path, "commit", "-qm", "first")
    git(tmp_path, "tag", "v1")
    commit = git(tmp_path, "rev-parse", "HEAD")
    (tmp_path / "other").touch()  # not tracked
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert len(commit) == 40 and provenance.commit(tmp_path) == commit
    (tmp_path / "file").write_text("2")
    assert provenance.commit(tmp_path) == f"{commit}-dirty"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert provenance.commit(tmp_path) is None


def test_a_record_has_installed_packages_python_and_hardware(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance, "PACKAGES", ("numpy", "no-such-package"))
    found = provenance.provenance()
    assert found["packages"] == {"numpy": metadata.version("numpy")}
    assert found["python"] == platform.python_version()
    hardware = found["hardware"]
    assert hardware["cores"] == cores() >= 1 and hardware["platform"] == platform.platform()
    assert hardware["memory"] == os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


CPUINFO = (
    "processor\t: 0\nmodel\t\t: 143\nmodel name\t: A: fast one\nmodel name\t: another\nFeatures\t: fp bf16\n"
)


def test_the_processor_is_named_as_linux_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cpuinfo").write_text(CPUINFO)
    assert provenance.cpu_info("model name", file=tmp_path / "cpuinfo") == ["A: fast one", "another"]
    assert provenance.cpu_info("flags", "features", file=tmp_path / "cpuinfo") == ["fp bf16"]
    assert provenance.cpu_info("flags", file=tmp_path / "elsewhere") == []
    monkeypatch.setattr(platform, "machine", lambda: "machine")
    for listed, processor, named in ((["A", "B"], "", "A"), ([], "other", "other"), ([], "", "machine")):
        monkeypatch.setattr(provenance, "cpu_info", lambda name, listed=listed: listed)
        monkeypatch.setattr(platform, "processor", lambda processor=processor: processor)
        assert provenance.provenance()["hardware"]["cpu"] == named


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

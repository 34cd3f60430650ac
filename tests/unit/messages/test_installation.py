"""Where pubmill's files and the user's are: in a checkout, and in a workspace without a clone."""

import os
from pathlib import Path

import pytest

from pubmill.messages import commands, installation
from pubmill.messages.installation import FILES, VIEW, link_workspace, own_settings

SHIPPED = "specs/models/no-pretraining.yaml"


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace without files of its own; the current folder."""
    link_workspace(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_own(workspace: Path, name: str, text: str) -> Path:
    (workspace / name).parent.mkdir(parents=True, exist_ok=True)
    (workspace / name).write_text(text)
    return workspace / name


def test_a_workspace_is_laid_out_as_a_checkout(workspace: Path, root: Path) -> None:
    assert installation.root() == VIEW
    assert all((VIEW / name).resolve() == root / name for name in FILES)
    assert (VIEW / "pubmill/errors.py").samefile(root / "pubmill/errors.py")

    assert commands.snakefile() == ["--snakefile", ".pubmill/Snakefile"]
    assert commands.profile() == ".pubmill/profiles/local"
    Path("profiles/slurm").mkdir(parents=True)
    assert commands.profile("profiles/slurm") == "profiles/slurm"


def test_a_spec_that_is_removed_leaves_that_of_pubmill(workspace: Path, root: Path) -> None:
    write_own(workspace, "specs/models/.mine.yaml.swp", "of an editor")
    paths = [write_own(workspace, name, "name: x\n") for name in (SHIPPED, "specs/models/mine.yaml")]
    assert link_workspace(workspace) == [SHIPPED]
    assert (VIEW / "specs/models/mine.yaml").is_symlink()
    assert not (VIEW / "specs/models/.mine.yaml.swp").is_symlink()
    for path in paths:
        path.unlink()
    assert link_workspace(workspace) == []
    assert (VIEW / SHIPPED).resolve() == root / SHIPPED
    assert not (VIEW / "specs/models/mine.yaml").is_symlink()


def test_links_that_are_right_are_not_made_again(workspace: Path) -> None:
    """Snakemake compares the times of input files."""
    before = {path: os.lstat(path) for path in VIEW.rglob("*") if path.is_symlink()}
    write_own(workspace, "studies/mine.yaml", "study: mine\n")
    link_workspace(workspace)
    assert len(before) > 300
    for path, status in before.items():
        now = os.lstat(path)
        assert (now.st_ino, now.st_mtime_ns) == (status.st_ino, status.st_mtime_ns), path
    assert (VIEW / "studies/mine.yaml").read_text() == "study: mine\n"


def test_own_settings_come_after_those_of_pubmill(workspace: Path) -> None:
    assert own_settings(VIEW) == own_settings(Path()) == []
    for name in ("config.yaml", "workspace.yaml"):
        write_own(workspace, name, "results: there\n")
    assert own_settings(VIEW) == [Path("config.yaml"), Path("workspace.yaml")]
    assert own_settings(workspace / VIEW) == [workspace / "config.yaml", workspace / "workspace.yaml"]
    # In a checkout, config.yaml is pubmill's own.
    assert own_settings(Path()) == [Path("workspace.yaml")]

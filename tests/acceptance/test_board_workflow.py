"""The workflow file of a board: its own steps, run by bash as GitHub's runner does, on real datasets."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.acceptance.conftest import Converted
from tests.unit.programs import run_verb

SHIM = """#!/bin/bash
[ "$1" = run ] && set -- "$@" --config "mirror={mirror}" --cores 1
exec {pubmill} "$@"
"""
"""`pubmill` with the copies of public files in place of the network."""


class Runner:
    """Runs the steps of a workflow file in a folder, as far as they are commands."""

    def __init__(self, folder: Path, mirror: Path) -> None:
        self.folder = folder
        self.jobs = yaml.safe_load((folder / ".github/workflows/board.yml").read_text())["jobs"]
        program = folder.parent / "bin/pubmill"
        program.parent.mkdir()
        program.write_text(SHIM.format(mirror=mirror, pubmill=Path(sys.executable).with_name("pubmill")))
        program.chmod(0o755)
        path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
        self.environment = os.environ | {"PATH": path, "GITHUB_WORKSPACE": str(folder)}

    def run(self, job: str, step: str, **values: str) -> subprocess.CompletedProcess[str]:
        (command,) = (one["run"] for one in self.jobs[job]["steps"] if one.get("name", "").startswith(step))
        return subprocess.run(
            ["bash", "-e", "-c", command],
            cwd=self.folder,
            env=self.environment | values,
            capture_output=True,
            text=True,
        )


@pytest.fixture
def runner(root: Path, shared: Path, converted: Converted, tmp_path: Path) -> Runner:
    shutil.copytree(converted("pubmedqa"), tmp_path / "full/datasets/pubmedqa")
    board = tmp_path / "board"
    run_verb("board", str(board), "--dataset", "pubmedqa", "--results", str(tmp_path / "full"))
    shutil.copytree(root / "boards/pubmedqa/submissions/tfidf", board / "submissions/tfidf")
    return Runner(board, shared / "mirror")


@pytest.mark.weekly
def test_the_steps_check_a_pull_request_and_publish_the_main_branch(runner: Runner) -> None:
    converting = runner.run("board", "Convert")
    assert converting.returncode == 0, converting.stderr
    checked = runner.run("board", "Score", CHECK="--check")
    assert checked.returncode == 0 and "1 submission accepted" in checked.stderr, checked.stderr
    assert not (runner.folder / "site").exists() and not (runner.folder / "history.jsonl").exists()
    assert runner.run("board", "Score", CHECK="").returncode == 0
    assert (runner.folder / "site/index.html").is_file()
    bad = runner.folder / "submissions/bad"
    shutil.copytree(runner.folder / "submissions/tfidf", bad)
    (bad / "pubmedqa.jsonl.gz").write_bytes((bad / "pubmedqa.jsonl.gz").read_bytes()[:-50])
    refused = runner.run("board", "Score", CHECK="--check")
    assert refused.returncode == 1 and "refused: bad:" in refused.stderr


def test_the_history_is_committed_and_pushed_once(runner: Runner, tmp_path: Path) -> None:
    def git(*command: str) -> str:
        done = subprocess.run(
            ["git", *command], cwd=runner.folder, capture_output=True, text=True, check=True
        )
        return done.stdout

    git("init", "--quiet", "--initial-branch", "main")
    git("init", "--quiet", "--bare", str(tmp_path / "remote"))
    git("remote", "add", "origin", str(tmp_path / "remote"))
    git("config", "push.autoSetupRemote", "true")
    (runner.folder / "history.jsonl").write_text("{}\n")
    for _ in range(2):
        kept = runner.run("history", "Keep the history")
        assert kept.returncode == 0, kept.stderr
    assert git("log", "--format=%an %s", "origin/main").splitlines() == [
        "board History of the board [skip ci]"
    ]

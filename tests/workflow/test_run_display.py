"""The display of a run (`--logger=pubmill`) with Snakemake itself, on a terminal and without one."""

import os
import pty
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tests.workflow.conftest import Project

GOOD, BAD = "results/demo/datasets/bc5-chem/card.json", "results/demo/datasets/jnlpba/card.json"
DISPLAY = "--logger=pubmill"


def shown_on_terminal(project: Project, *arguments: str) -> tuple[int, str]:
    """Run Snakemake on a terminal; return its status and all that it showed."""
    main, end = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "300", "LINES": "40"}
    command = replace(project, python=sys.executable).command(*arguments)
    process = subprocess.Popen(command, cwd=project.folder, stdout=end, stderr=end, env=environment)
    os.close(end)
    shown = b""
    with suppress(OSError):  # The terminal ends with the process.
        while data := os.read(main, 65536):
            shown += data
    os.close(main)
    return process.wait(), shown.decode()


def test_a_run_with_a_good_job_and_a_failing_one(project: Project, world: Path, tmp_path: Path) -> None:
    mirror = tmp_path / "mirror"
    shutil.copytree(world, mirror)
    project.edit("config.yaml", f"mirror: {world}", f"mirror: {mirror}")
    [damaged] = mirror.rglob("JNLPBA/train.tsv")
    damaged.write_text("cut off")

    status, shown = shown_on_terminal(project, GOOD, BAD, DISPLAY)
    assert status == 1
    assert (project.folder / GOOD).exists()
    assert re.search(r"  download +[0-6]/6.*\r\n  convert +0/2\r\n", shown)
    assert re.search(r"\d of 8 jobs \(\d+%\)", shown)
    assert "CalledProcessError" not in shown
    summary = shown[shown.rindex("6 of 8 jobs done in ") :].splitlines()
    assert summary[0].endswith(", 1 failed, 1 not run:")
    assert summary[1:3] == ["  download    5/6  1 failed", "  convert     1/2"]
    assert summary[3].startswith("failed: Downloading ") and summary[3].endswith("JNLPBA/train.tsv")
    assert "not the expected file" in summary[4]
    log = summary[-1].removeprefix("    log: ")
    assert "not the expected file" in (project.folder / log).read_text()


@pytest.mark.long
def test_a_plan_is_short_and_errors_of_the_graph_are_shown(project: Project) -> None:
    plan = project.run(GOOD, BAD, DISPLAY, "-n").stdout.splitlines()
    assert plan[:3] == ["8 jobs would run:", "  download    6", "  convert     2"]
    assert plan[-1].startswith("The command above")
    done = project.run("results/demo/datasets/jnlpbb/card.json", DISPLAY, check=False)
    assert done.returncode == 1
    assert "there is no dataset 'jnlpbb'; the nearest: jnlpba" in done.stderr
    assert "jobs" not in done.stderr

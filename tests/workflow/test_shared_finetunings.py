"""Fine-tunings of a run on one machine: one process imports torch, each run is a fork of it."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.waiting import wait_until
from tests.workflow.conftest import Project, copy_of

OBSERVER = """
import os, sys
def note(event, found):
    if event == "import" and found[0] == "torch":
        with open({log!r}, "a") as lines:
            print(os.getpid(), *sys.argv[1:2], file=lines)
sys.addaudithook(note)
"""
ENDINGS = ("predictions.jsonl.gz", "training.json")


@pytest.mark.weekly
@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="forks are used on Linux only")
def test_deleted_seeds_alone_are_made_again_in_forks_of_one_process(
    finished: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = replace(copy_of(finished, tmp_path / "project"), python=sys.executable)
    runs = project.folder / "results/demo/runs"
    made = {path: path.read_bytes() for path in sorted(runs.rglob(f"final/seed-*.{ENDINGS[0]}"))}
    deleted = [path for path in made if "blurb" in path.parts][:3]
    log = tmp_path / "log"
    (project.folder / "sitecustomize.py").write_text(OBSERVER.format(log=str(log)))
    monkeypatch.setenv("PYTHONPATH", str(project.folder))  # jobs have it in any case
    times = {path: path.stat().st_mtime_ns for path in made}
    for path in deleted:
        path.unlink()
    project.run("--", *(str(path.relative_to(project.folder)) for path in deleted))
    assert {path: path.read_bytes() for path in made} == made
    assert {path for path in made if path.stat().st_mtime_ns != times[path]} == set(deleted)
    [importer] = {tuple(line.split()) for line in log.read_text().splitlines()}
    assert importer[1] == "--serve"
    wait_until(lambda: not Path("/proc", importer[0]).exists(), 30, "the end of the process")

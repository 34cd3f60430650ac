"""Jobs of Snakemake's graph."""

import base64
import gc
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pubmill.workflow.causes import INTERRUPTED, NOT_MADE
from pubmill.workflow.jobs import jobs_of

TWO = """
rule all:
    input: "last.txt"

rule last:
    input: "first.txt"
    output: "last.txt"
    shell: "touch {output}"

rule first:
    output: "first.txt"
    shell: "touch {output}"
"""
GRID = """
TRIALS = ["learning_rate=1+batch=8", *config["more"]]
rule all:
    input: expand("{protocol}-bc2gm-s.chosen", protocol=config["protocols"])

rule choose:
    input: lambda w: [f"{w.protocol}-{w.dataset}-{w.setting}-{trial}.trial" for trial in TRIALS]
    output: "{protocol}-{dataset}-{setting}.chosen"
    shell: "touch {output}"

rule trial:
    output: "{protocol}-{dataset}-{setting}-{trial}.trial"
    shell: "touch {output}"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, whose jobs are listed in this process."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    gc.unfreeze()


def make(*files: str) -> None:
    for second, file in enumerate(files, 1):
        Path(file).touch()
        os.utime(file, (second, second))


def job(rule: str, **wildcards: str) -> Any:
    return SimpleNamespace(rule=SimpleNamespace(name=rule), wildcards_dict=wildcards)


def test_an_interrupted_job_is_to_be_made_again(folder: Path) -> None:
    (folder / "Snakefile").write_text(TWO)
    make("first.txt", "last.txt")
    assert not [job for job in jobs_of(folder, {}) if job.to_do]
    marks = folder / ".snakemake/incomplete"
    marks.mkdir(parents=True, exist_ok=True)
    (marks / base64.b64encode(b"first.txt").decode()).touch()
    assert [(job.rule, job.to_do, job.cause) for job in sorted(jobs_of(folder, {}), key=str)] == [
        ("first", True, INTERRUPTED),
        ("last", True, ""),
    ]


def test_jobs_are_listed_while_a_run_holds_the_folder(folder: Path) -> None:
    (folder / "Snakefile").write_text(TWO)
    make("first.txt")
    locks = folder / ".snakemake/locks"
    locks.mkdir(parents=True)
    for kind in ("input", "output"):
        (locks / f"0.{kind}.lock").write_text("first.txt\nlast.txt\n")
    assert [job.rule for job in jobs_of(folder, {}) if job.to_do] == ["last"]
    assert sorted(file.name for file in locks.iterdir()) == ["0.input.lock", "0.output.lock"]


@pytest.mark.parametrize("made", [("p",), ("p", "q")])
def test_new_trials_of_a_choice_that_is_made_name_what_is_new_in_the_grid(
    folder: Path, made: tuple[str, ...]
) -> None:
    """A choice that is not made has trials that are simply not made."""
    (folder / "Snakefile").write_text(GRID)
    old, new = "learning_rate=1+batch=8", "learning_rate=2+batch=8"
    make(*(f"{one}-bc2gm-s.chosen" for one in made), *(f"{one}-bc2gm-s-{old}.trial" for one in "pq"))
    found = jobs_of(folder, {"protocols": ["p", "q"], "more": [new]})
    causes = {
        job.wildcards["protocol"]: job.cause
        for job in found
        if job.rule == "trial" and job.wildcards["trial"] == new
    }
    grid = {one: f"specs/protocols/{one}.yaml: new in the grid: learning_rate=2" for one in "pq"}
    assert causes == ({"p": NOT_MADE, "q": NOT_MADE} | {one: grid[one] for one in made})
    assert [job for job in found if job.rule == "trial" and not job.to_do]

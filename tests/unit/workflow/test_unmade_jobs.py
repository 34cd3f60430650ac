"""Jobs of studies without results, listed without Snakemake's graph, against its own answer."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.long

PROGRAM = """
import json, sys
from pathlib import Path
from pubmill.cli.studies import configuration, study_files
from pubmill.workflow import jobs

way, root, study, *targets = sys.argv[1:]
walk, answers = jobs.unmade_jobs, []
jobs.unmade_jobs = lambda dag: answers.append(walk(dag)) or (answers[0] if way == "walk" else None)
config = {}
if study:
    import os
    there = os.getcwd()
    os.chdir(root)
    config = configuration(study_files(study), None) | {"mirror": None}
    os.chdir(there)
listed = jobs.jobs_of(Path(root), config, targets)
print(json.dumps([answers[0] is not None, sorted([list(vars(job).values()) for job in listed], key=str)]))
"""
SNAKEFILE = """
rule all:
    input: "c.txt"

rule part:
    input: "old.txt"
    output: "a{n}.txt", "b{n}.txt"
    shell: "touch {output}"

rule join:
    input: unpack(lambda w: {"parts": [f"a{n}.txt" for n in range(3)], "other": "b1.txt"}), "given.txt"
    output: "c.txt"
    shell: "touch {output}"

rule given:
    output: "given.txt"
    shell: "touch {output}"
"""
BEHIND = """
rule all:
    input: "kept.txt", "new.txt"

rule part:
    input: "old.txt"
    output: temp("part.txt")
    shell: "touch {output}"

rule kept:
    input: "part.txt"
    output: "kept.txt"
    shell: "touch {output}"

rule new:
    input: "part.txt"
    output: "new.txt"
    shell: "touch {output}"
"""
TWICE = (
    SNAKEFILE + 'ruleorder: part > again\nrule again:\n    output: "a{m}.txt"\n    shell: "touch {output}"\n'
)


def answer(way: str, root: Path, folder: Path, study: str, *targets: str) -> Any:
    """Return whether the walk answered, and the listed jobs."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, way, str(root), study, *targets],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "study",
    ["lewis2020", "demo", *(pytest.param(name, marks=pytest.mark.weekly) for name in ("gu2020", "shin2020"))],
)
def test_a_study_without_results_has_the_jobs_of_snakemakes_graph(
    root: Path, tmp_path: Path, study: str
) -> None:
    walked, jobs = answer("walk", root, tmp_path, study)
    assert walked
    assert len(jobs) > 50
    assert jobs == answer("graph", root, tmp_path, study)[1]


def test_a_small_workflow_has_the_jobs_and_causes_of_snakemakes_graph(tmp_path: Path) -> None:
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "old.txt").touch()
    walked, jobs = answer("walk", tmp_path, tmp_path, "")
    assert walked
    assert jobs == answer("graph", tmp_path, tmp_path, "")[1]
    assert [job[0] for job in jobs] == ["given", "join", "part", "part", "part"]


@pytest.mark.parametrize(
    "made", ["a0.txt b0.txt a1.txt b1.txt", "given.txt", "a0.txt", "given.txt a2.txt", "c.txt"]
)
@pytest.mark.parametrize("again", ["", "old.txt"])
def test_what_is_made_is_compared_by_snakemake(tmp_path: Path, made: str, again: str) -> None:
    """`again`: written after what is made, so that this is to be made again."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    for second, file in enumerate(["old.txt", *made.split(), *again.split()]):
        (tmp_path / file).touch()
        os.utime(tmp_path / file, (second, second))
    walked, jobs = answer("walk", tmp_path, tmp_path, "")
    assert walked
    assert jobs == answer("graph", tmp_path, tmp_path, "")[1]
    assert len(jobs) == 5


def test_snakemake_decides_where_something_made_is_behind_something_that_is_not(tmp_path: Path) -> None:
    (tmp_path / "Snakefile").write_text(BEHIND)
    for second, file in enumerate(["old.txt", "kept.txt"]):
        (tmp_path / file).touch()
        os.utime(tmp_path / file, (second, second))
    walked, jobs = answer("walk", tmp_path, tmp_path, "")
    assert not walked
    assert jobs == answer("graph", tmp_path, tmp_path, "")[1]
    assert [job[:3] for job in jobs] == [["kept", {}, True], ["new", {}, True], ["part", {}, True]]


def test_snakemake_chooses_where_several_rules_make_a_file(tmp_path: Path) -> None:
    (tmp_path / "Snakefile").write_text(TWICE)
    (tmp_path / "old.txt").touch()
    walked, jobs = answer("walk", tmp_path, tmp_path, "")
    assert not walked
    assert "again" not in [job[0] for job in jobs]


def test_snakemake_reports_a_file_that_is_missing(tmp_path: Path) -> None:
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    with pytest.raises(AssertionError, match="Missing input files for rule part"):
        answer("walk", tmp_path, tmp_path, "")

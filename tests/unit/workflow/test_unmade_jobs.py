"""Jobs of studies without results, listed without Snakemake's graph, against its own answer."""

import gc
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.planning.plan import Job
from pubmill.workflow import jobs
from pubmill.workflow.jobs import UnmadeJobs, unmade_jobs

PROGRAM = """
import json, sys
from pathlib import Path
from pubmill.cli.studies import configuration, study_files
from pubmill.workflow import jobs
from pubmill.workflow.causes import NOT_MADE
from pubmill.workflow.jobs import UnmadeJobs, unmade_jobs

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
PARTS = "a0.txt b0.txt a1.txt b1.txt a2.txt b2.txt"


class Listed:
    """Lists the jobs of a workflow in a folder, in this process."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.monkeypatch = folder, monkeypatch

    def make(self, *files: str) -> None:
        """Write files, each a second after the one before."""
        for second, file in enumerate(files):
            (self.folder / file).touch()
            os.utime(self.folder / file, (second, second))

    def walked(self, text: str, *targets: str) -> tuple[bool, list[Job]]:
        """Return whether the walk answered, and the jobs."""
        (self.folder / "Snakefile").write_text(text)
        answers: list[UnmadeJobs | None] = []

        def walk(dag: Any) -> UnmadeJobs | None:
            answers.append(unmade_jobs(dag))
            return answers[-1]

        with self.monkeypatch.context() as patched:
            patched.setattr(jobs, "unmade_jobs", walk)
            found = jobs.jobs_of(self.folder, {}, targets)
        return answers[0] is not None, found

    def of_graph(self, text: str, *targets: str) -> list[Job]:
        """Return the jobs of Snakemake's whole graph."""
        (self.folder / "Snakefile").write_text(text)
        with self.monkeypatch.context() as patched:
            patched.setattr(jobs, "unmade_jobs", lambda dag: None)
            return jobs.jobs_of(self.folder, {}, targets)


@pytest.fixture
def listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Listed]:
    monkeypatch.chdir(tmp_path)
    yield Listed(tmp_path, monkeypatch)
    gc.unfreeze()


def by_name(found: list[Job]) -> list[list[Any]]:
    return sorted(([*vars(job).values()] for job in found), key=str)


@pytest.mark.parametrize("again", ["", "old.txt"])
@pytest.mark.parametrize(
    ("text", "made", "targets", "number"),
    [
        (SNAKEFILE, "", "", 5),
        (SNAKEFILE, "a0.txt", "", 5),
        (SNAKEFILE, "given.txt", "", 5),
        (SNAKEFILE, "c.txt", "", 5),
        (SNAKEFILE, f"{PARTS} given.txt", "", 5),
        (SNAKEFILE, f"{PARTS} given.txt c.txt", "", 5),
        (SNAKEFILE, f"c.txt {PARTS} given.txt", "", 5),
        (SNAKEFILE, "", "b2.txt a2.txt given.txt", 2),
        (f"localrules: given, join\n{SNAKEFILE}", "", "", 5),
        (BEHIND, "kept.txt part.txt", "", 3),
        (BEHIND, "kept.txt", "", 0),
        (TWICE, "", "", 0),
        (TWICE, f"{PARTS} given.txt c.txt", "", 0),
    ],
)
def test_the_walk_lists_what_the_graph_lists(
    listed: Listed, text: str, made: str, targets: str, number: int, again: str
) -> None:
    """`again`: written after what is made, so that this is to be made again. `number`: 0 where only the whole
    graph tells the jobs: something is made behind what is not, or several rules make a file."""
    listed.make("old.txt", *made.split(), *again.split())
    walked, found = listed.walked(text, *targets.split())
    assert by_name(found) == by_name(listed.of_graph(text, *targets.split()))
    assert walked == bool(number) and len(found) == (number or len(found))


def test_a_file_that_no_rule_makes_is_reported_in_one_line_of_ours(listed: Listed) -> None:
    with pytest.raises(PubmillError, match="Missing input files for rule part"):
        listed.walked(SNAKEFILE)
    with pytest.raises(PubmillError, match=r"there is no study 'x'\Z"):
        listed.walked("import sys\nsys.exit('pubmill: error: there is no study \\'x\\'')\n")


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
@pytest.mark.long
def test_a_study_without_results_has_the_jobs_of_snakemakes_graph(
    root: Path, tmp_path: Path, study: str
) -> None:
    walked, found = answer("walk", root, tmp_path, study)
    assert walked
    assert len(found) > 50
    assert found == answer("graph", root, tmp_path, study)[1]

"""What pubmill answers in Snakemake's place, against Snakemake's own answer, on a small workflow."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SNAKEFILE = """
rule all:
    input:
        "end/c.txt",


rule first:
    output:
        a="a{n}.txt",
        more="more/{n}.txt",
    conda:
        "env.yaml"
    params:
        text=lambda w, output: f"{w.n} {output.a}",
    shell:
        "echo {params.text} > {output.a}; echo > {output.more}"


rule join:
    input:
        ancient("old.txt"),
        parts=lambda w: [f"a{n}.txt" for n in range(3)],
        other=expand("more/{n}.txt", n=range(3)),
    output:
        "b.txt",
        temp("passing.txt"),
    benchmark:
        "benchmark.txt"
    params:
        recipe=lambda w: "recipe 1",
    shell:
        "cat {input} > {output[0]}; touch {output[1]}"


rule last:
    input:
        "b.txt",
        "a1.txt",
    output:
        "end/c.txt",
    shell:
        "cat {input} > {output}"
"""
LISTED = """
import json, os, sys
from pathlib import Path
from pubmill.workflow import jobs
from pubmill.workflow.jobs import jobs_of
from pubmill.workflow.snakemake_speed import speed_up
jobs.unmade_jobs = lambda dag: None
if sys.argv[1] == "ours":
    speed_up()
for folder in sys.argv[2:]:
    os.chdir(folder)
    try:
        print([[job.rule, dict(job.wildcards), job.to_do, job.cause] for job in jobs_of(Path.cwd(), {})])
    except Exception as error:
        print(str(error).replace("\\n", " "))
"""
INSIDE = SNAKEFILE.replace('"b.txt",\n        temp', 'directory("more"),\n        temp').replace(
    '"b.txt",\n        "a1', '"more",\n        "a1'
)
"""The folder that one rule makes has the files of another."""


def touch(folder: Path) -> None:
    os.utime(folder / "a0.txt", (4e9, 4e9))
    (folder / "a0.txt").write_text("new")
    os.utime(folder / "a0.txt", (4e9, 4e9))


def remove(folder: Path) -> None:
    (folder / "a2.txt").unlink()
    (folder / "b.txt").unlink()
    (folder / "end/c.txt").unlink()


def change_recipe(folder: Path) -> None:
    (folder / "Snakefile").write_text(SNAKEFILE.replace("recipe 1", "recipe 2"))


def put_inside(folder: Path) -> None:
    (folder / "Snakefile").write_text(INSIDE)


EXPECTED = {
    "unchanged": "['last', {}, False, '']",
    "touch": "['join', {}, True, 'newer: a0.txt']",
    "remove": "['first', {'n': '2'}, True, 'not made yet']",
    "change_recipe": "['join', {}, True, 'the study: parameter ",
    "put_inside": "more",
}
EDITS = {edit.__name__: edit for edit in (touch, remove, change_recipe, put_inside)}


def listed(way: str, folders: list[Path]) -> list[str]:
    command = [sys.executable, "-c", LISTED, way, *map(str, folders)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.long
def test_jobs_and_their_causes_are_those_of_snakemake_itself(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in EXPECTED]
    made = tmp_path / "made"
    made.mkdir()
    (made / "Snakefile").write_text(SNAKEFILE)
    (made / "env.yaml").write_text("dependencies: []\n")
    (made / "old.txt").touch()
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--quiet", "all"]
    subprocess.run(command, cwd=made, check=True, capture_output=True)
    for folder in folders:
        shutil.copytree(made, folder, copy_function=shutil.copy2)
        EDITS.get(folder.name, lambda _: None)(folder)
    ours = listed("ours", folders)
    assert ours == listed("theirs", folders)
    for line, expected in zip(ours, EXPECTED.values(), strict=True):
        assert expected in line


GROUPED = """
if config["ours"]:
    from pubmill.workflow.snakemake_speed import speed_up
    speed_up()

rule all:
    input: "end.txt"

rule first:
    output: "first.txt"
    group: "bundle"
    shell: "touch {output}"

rule between:
    input: "first.txt"
    output: "between.txt"
    shell: "touch {output}"

rule end:
    input: "between.txt", "apart.txt"
    output: "end.txt"
    group: config["group"]
    shell: "touch {output}"

rule apart:
    output: "apart.txt"
    group: "bundle"
    shell: "touch {output}"
"""


@pytest.mark.parametrize("group", ["bundle", "another"])
def test_a_group_that_depends_on_itself_is_reported(root: Path, tmp_path: Path, group: str) -> None:
    """The jobs of a group that are not connected are one job, as those of a bundle are."""
    (tmp_path / "Snakefile").write_text(GROUPED)
    for ours in (0, 1):
        words = ["-n", "--group-components", "bundle=9", "--config", f"ours={ours}", f"group={group}"]
        command = [sys.executable, "-m", "snakemake", *words]
        environment = os.environ | {"PYTHONPATH": str(root)}
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
        said = "Group bundle depends on itself" in done.stdout + done.stderr
        assert (said, done.returncode != 0) == (group == "bundle",) * 2, done.stdout + done.stderr

"""The stages that displays and reports show, against Snakemake's own graph, and Snakemake's lint."""

import re
import subprocess
import sys
from pathlib import Path

from pubmill.messages.stage_groups import GROUPS, TARGET
from pubmill.stages.stage import group_of
from tests.waiting import patience
from tests.workflow.conftest import Project

DIAGNOSES = {("convert", "select"), ("convert", "vocabulary")}
"""Reports on texts of datasets in a corpus and on words of datasets in a vocabulary."""


def read_by(stage: str) -> set[str]:
    return {one for source in GROUPS.get(stage, ()) for one in (source, *read_by(source))}


def test_the_order_of_stages_is_that_of_the_graph(project: Project) -> None:
    drawing = project.run("--rulegraph").stdout
    names = dict(re.findall(r'(\d+)\[label = "(\w+)"', drawing))
    edges = {(names[one], names[other]) for one, other in re.findall(r"(\d+) -> (\d+)", drawing)}
    found = {(group_of(one), group_of(other)) for one, other in edges if other != TARGET}
    found = {(one, other) for one, other in found if one != other}
    assert len(found) > 20
    assert {(one, other) for one, other in found if one not in read_by(other)} <= DIAGNOSES
    # no predictions are supplied to the demo
    drawn = {
        (one, stage) for stage, reads in GROUPS.items() for one in reads if "predictions" not in (one, stage)
    }
    assert drawn <= found


def test_with_the_default_configuration_there_are_no_findings(root: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--snakefile", root / "workflow/Snakefile", "--lint"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=patience(300),
    )  # fmt: skip
    assert done.returncode == 0 and "Lints for" not in done.stderr, done.stderr

"""docs/tutorial.md from its first to its last command, exactly as printed, on a smaller demo."""

import json
import os
import re
import sys
from pathlib import Path

import pytest

from tests import printed
from tests.conftest import ROOT
from tests.workflow.conftest import Project, copy_of, ended

PAGE = ROOT / "docs/tutorial.md"
PRETRAINED = "results/demo/pretraining/my-first"


@pytest.fixture
def project(finished: Project, world: Path, tmp_path: Path) -> Project:
    """A finished demo, as if `make world` had prepared it; the tutorial's files are not written yet."""
    project = copy_of(finished, tmp_path / "checkout")
    (project.folder / ".venv").symlink_to(sys.prefix)
    for name in ("tests", "tests/world"):
        (project.folder / name).mkdir()
        for path in (ROOT / name).iterdir():
            if path.name not in ("world", "mirror"):
                (project.folder / name / path.name).symlink_to(path)
    (project.folder / "tests/world/mirror").symlink_to(world)
    return project


def typed(project: Project, command: str) -> str:
    """Return the output of a command typed in the checkout, whose package is the checkout's own."""
    environment = os.environ | {"PYTHONPATH": str(project.folder), "BROWSER": "true"}
    return ended(["bash", "-c", command], project.folder, **environment)


def stages(output: str) -> dict[str, int]:
    """Return the jobs by stage that a dry run prints, here or on the page."""
    counts = re.findall(r"^  ([a-z-]+) +(\d+)(?:  \(.*\))?$", output, re.M)
    return {stage: int(count) for stage, count in counts}


@pytest.mark.long
@pytest.mark.weekly
def test_the_tutorial_ends_with_a_table_and_a_partial_rerun(project: Project) -> None:
    shown = [stages(block.text) for block in printed.blocks(PAGE) if block.language == "text"]
    outputs = []
    for block in printed.blocks(PAGE):
        if block.file:
            (project.folder / block.file).write_text(block.text)
        elif block.language == "sh" and not block.text.startswith("make "):
            outputs.append((block.text.strip(), typed(project, block.text)))
    planned = [stages(output) for command, output in outputs if command.endswith("-n")]
    assert planned[1] == shown[0], "the jobs of the rerun, as on the page"
    assert "download" not in planned[1] and "pack" not in planned[1]
    assert any("My first model" in output for command, output in outputs if "explain" in command)
    table = json.loads((project.folder / "results/demo/tables/my-first/gu2020-table06.json").read_text())
    assert table["cells"]["my-first"]["bc5-chem"]["expected"] == 2
    runs = project.folder / "results/demo/runs/blurb/my-first/bc5-chem/standard/final"
    assert {path.name for path in runs.glob("seed-?.json")} == {"seed-1.json", "seed-2.json"}
    for state in (project.folder / PRETRAINED).glob("step-*/state.json"):
        assert '"masking_rate": 0.3' in json.dumps(json.loads(state.read_text())), state
    assert "Nothing to be done" in typed(project, outputs[-1][0] + " -n")

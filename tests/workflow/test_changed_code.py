"""Code that changes while a run goes on: jobs that start afterwards are refused, the same command ends it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.workflow.conftest import TABLE, Project

RECORDS = "results/demo/runs/*/*/*/*/final/seed-?.json"
CODE = "pubmill/metrics/entities.py"
CHANGING = f"""\
def main() -> None:
    other = Path(__file__).resolve().parents[1] / "{CODE}"
    if not other.read_text().endswith("# changed\\n"):
        other.write_text(other.read_text() + "# changed\\n")
"""


@pytest.fixture
def unscored(copy: Project) -> tuple[Project, dict[Path, Any]]:
    """A project without its records and table, and the metrics of its records."""
    records = {path: json.loads(path.read_text())["metrics"] for path in copy.folder.glob(RECORDS)}
    for path in (*records, copy.folder / TABLE):
        path.unlink()
    return copy, records


def test_no_job_runs_code_that_is_not_that_of_its_run(unscored: tuple[Project, dict[Path, Any]]) -> None:
    copy, records = unscored
    copy.edit("scripts/score.py", "def main() -> None:\n", CHANGING)
    stopped = copy.run(TABLE, "--cores", "1", check=False)
    assert stopped.returncode != 0
    assert f"pubmill: error: changed since this run began: {CODE}. " in stopped.stdout + stopped.stderr
    assert len(list(copy.folder.glob(RECORDS))) == 1, "the job that had imported its code has finished"
    assert copy.planned(TABLE)["score"] == len(records) - 1
    copy.run(TABLE)
    assert {path: json.loads(path.read_text())["metrics"] for path in records} == records


def test_code_of_another_stage_and_documents_stop_nothing(unscored: tuple[Project, dict[Path, Any]]) -> None:
    """The code that the first scoring changes is that of the pages of datasets."""
    copy, records = unscored
    copy.edit("scripts/score.py", "def main() -> None:\n", CHANGING.replace(CODE, "scripts/dataset_page.py"))
    (copy.folder / "README.md").write_text("changed")
    copy.run(TABLE)
    assert len(list(copy.folder.glob(RECORDS))) == len(records)

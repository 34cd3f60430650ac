"""Code that changes while a run goes on: jobs that start afterwards are refused, the same command ends it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pubmill.inspection.damaged_results import examine
from pubmill.storage.files import read_jsonl_gz, write_jsonl_gz
from pubmill.storage.parquet import parquet_fault
from tests.workflow.conftest import TABLE, Project

pytestmark = pytest.mark.long

RECORDS = "results/demo/runs/*/*/*/*/final/records.json"
CODE = "pubmill/metrics/entities.py"
FIRST = "    written = list[Path]()\n"
"""The first line of what the job `score` does; it has imported its code by then."""
CHANGING = f"""\
    other = Path(__file__).resolve().parents[2] / "{CODE}"
    if not other.read_text().endswith("# changed\\n"):
        other.write_text(other.read_text() + "# changed\\n")
{FIRST}"""


def metrics(records: Path) -> Any:
    return json.loads(records.with_name("seed-1.json").read_text())["metrics"]


def test_no_job_runs_code_that_is_not_that_of_its_run(copy: Project) -> None:
    records = {path: metrics(path) for path in copy.folder.glob(RECORDS)}
    for path in (*records, copy.folder / TABLE):
        path.unlink()
    copy.edit("pubmill/jobs/score.py", FIRST, CHANGING)
    stopped = copy.run(TABLE, "--cores", "1", check=False)
    assert stopped.returncode != 0
    assert f"pubmill: error: changed since this run began: {CODE}. " in stopped.stdout + stopped.stderr
    assert len(list(copy.folder.glob(RECORDS))) == 1, "the job that had imported its code has finished"
    assert copy.planned(TABLE)["score"] == len(records) - 1
    copy.run(TABLE)
    assert {path: metrics(path) for path in records} == records


def test_every_result_of_a_finished_study_is_compared_except_these(copy: Project) -> None:
    """One file of each kind then gets another last byte, and keeps its time."""
    results = copy.folder / "results"
    found = examine(results)
    assert [one for one in found if one.fault] == []
    bare = [one.path.relative_to(results / "demo") for one in found if one.fault == ""]
    assert {path.parts[0] for path in bare} <= {"benchmarks", "logs", "pretraining"}, bare
    assert all("tensorboard" in path.parts for path in bare if path.parts[0] == "pretraining")
    checked = [one.path for one in found if one.fault is None and one.path.name != "SHA256SUMS"]
    kinds = {(path.relative_to(results).parts[1], path.suffix): path for path in checked}
    data = [path for path in kinds.values() if path.suffix not in (".json", ".sha256")]
    for edited in (data, [path for path in kinds.values() if path.suffix == ".json"]):
        before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in edited}
        for path, (content, changed) in before.items():
            write_at(path, content[:-3] + bytes([content[-3] ^ 1]) + content[-2:], changed)
        parquet_fault.cache_clear()
        noticed = {one.path for one in examine(results) if one.fault}
        for path, (content, changed) in before.items():
            write_at(path, content, changed)
        assert {path for path in edited if path not in noticed} == set()


def write_at(path: Path, content: bytes, changed: int) -> None:
    path.write_bytes(content)
    os.utime(path, ns=(changed, changed))


def test_edited_predictions_are_not_scored(copy: Project) -> None:
    path = next(copy.folder.glob("results/demo/runs/blurb/*/bc5-chem/*/final/seed-1.predictions.jsonl.gz"))
    rows = list(read_jsonl_gz(path))
    rows[0]["labels"] = ["B" for _ in rows[0]["labels"]]
    write_jsonl_gz(path, rows)
    for gone in (path.with_name("records.json"), copy.folder / TABLE):
        gone.unlink()
    refused = copy.run(TABLE, check=False)
    assert refused.returncode != 0
    assert f"{path.name} is not the file that its job wrote" in refused.stdout + refused.stderr
    target = path.with_name("runs.json").relative_to(copy.folder).as_posix()
    copy.run(target, "--force")  # as `pubmill doctor fsck` prints it
    assert copy.planned(TABLE) == {"score": 1, "table": 1}

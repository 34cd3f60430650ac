"""Start of a run: files that cannot be reached, what the machine lacks, Slurm's jobs, failed jobs."""

import asyncio
import json
import os
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.hardware.slurm import check_earlier_jobs
from pubmill.messages.run_sources import VARIABLE
from pubmill.planning.plan import Plan, Training
from pubmill.recipes.reading import LONG, as_argument
from pubmill.stages import Graph, checked_graph
from pubmill.stages.gpus import Gpus
from pubmill.workflow import run_start
from tests.unit.toy_studies import study_of

URL = (
    "raw.githubusercontent.com/cambridgeltl/MTL-Bioinformatics-2016/"
    "df0df02fae6dbb87d88ffcf323b9096528f06f84/data/BC2GM-IOB/train.tsv"
)


@pytest.fixture
def graph(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Graph:
    """The graph of a study whose mirror is empty; results are below the test's folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, "")  # so that it is restored
    (tmp_path / "mirror").mkdir()
    return checked_graph(*study_of(root, tables=(), mirror=str(tmp_path / "mirror")))


def workflow(rule: str = "download") -> SimpleNamespace:
    """A workflow with one job to do."""
    params = ["1", as_argument({"a": "b" * LONG}, Path("results/.recipes"))]
    job = SimpleNamespace(rule=SimpleNamespace(name=rule), wildcards_dict={"path": URL}, params=params)
    return SimpleNamespace(
        dag=SimpleNamespace(needrun_jobs=lambda: [job]),
        local_exec=True,
        persistence=SimpleNamespace(finished=None),
        config_settings=SimpleNamespace(configfiles=[Path("studies/mine.yaml")]),
    )


def test_files_that_cannot_be_reached_are_named_with_the_command_that_fetches_them(
    graph: Graph, tmp_path: Path
) -> None:
    with pytest.raises(PubmillError) as error:
        run_start.begin(workflow(), graph, {}, False)
    first, file, advice = str(error.value).splitlines()
    assert first == "files cannot be reached:"
    assert file == f"https://{URL}: expected the file {tmp_path / 'mirror' / URL}"
    assert "pubmill mirror studies/mine.yaml --fetch FOLDER" in advice


def test_a_run_holds_its_lock_writes_long_recipes_and_says_what_it_costs(
    graph: Graph, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mirror" / URL
    file.parent.mkdir(parents=True)
    file.touch()
    held = run_start.begin(workflow(), graph, {"graph": {"a": "0"}}, False)
    assert held.is_locked and (Path(graph.results) / ".lock").is_file()
    assert len(list(Path("results/.recipes").iterdir())) == 1
    assert json.loads(Path(os.environ[VARIABLE]).read_text(encoding="utf-8")) == {"graph": {"a": "0"}}
    assert "jobs:       1 to do" in capsys.readouterr().err
    held.release()


def test_a_run_that_trains_needs_torch(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_start, "find_spec", lambda _: None)
    with pytest.raises(PubmillError, match=r"torch, which is not installed.* 'DIST.whl\[train\]'"):
        run_start.begin(workflow("finetune"), graph, {}, False)


@pytest.mark.parametrize(
    ("gpu", "operations", "fault", "said"),
    [
        (None, 1e20, None, "no NVIDIA GPU for 3 trainings of 278 hours on one V100; .* --profile "),
        (None, 1e15, None, ""),
        ("nvidia-smi", 1e20, "no compiler", "pubmill: no compiler"),
        ("nvidia-smi", 1e20, None, ""),
    ],
)
def test_what_a_machine_lacks_to_train_is_said(
    graph: Graph, monkeypatch: pytest.MonkeyPatch, gpu: str | None, operations: float, fault: Any, said: str
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: gpu)
    monkeypatch.setattr(run_start, "compiler_fault", lambda: fault)
    graph.gpus = Gpus({"V100": 1e14}, {"pretraining": 0.5, "finetuning": 0.25})
    training = Training("x", jobs=3, operations=operations, at_peak=operations)
    lines = run_start.machine_lines(Plan(finetuning={"x": training}), graph, False)
    assert len(lines) == bool(said)
    assert re.search(said, "".join(lines))


@pytest.mark.parametrize(
    ("queue", "named"),
    [
        ("", None), ("12 rule_pretrain_x /other", None), ("7 other {here}", None),
        ("12 rule_pretrain_x {here}\n13 rule_convert_convert {here}",
         "2 jobs of an earlier run .* `scancel 12 13`"),
    ],
)  # fmt: skip
def test_jobs_of_a_killed_run_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, queue: str, named: str | None
) -> None:
    (tmp_path / "squeue").write_text(f"#!/bin/sh\nprintf '{queue.format(here=tmp_path)}\n'\n")
    (tmp_path / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    if named is None:
        check_earlier_jobs(tmp_path)
    else:
        with pytest.raises(PubmillError, match=named):
            check_earlier_jobs(tmp_path)


@pytest.mark.parametrize(("version", "kept"), [("9.9.0", False), ("9.27.1", False), ("9.99.0", True)])
def test_a_failed_job_is_not_recorded_by_versions_that_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, kept: bool
) -> None:
    recorded = []

    async def finished(job: Any) -> None:
        recorded.append(job)

    monkeypatch.setattr(run_start, "version", lambda _: version)
    persistence = SimpleNamespace(finished=finished)
    run_start.forget_failed_jobs(persistence)
    (tmp_path / "made").touch()
    made, failed = (SimpleNamespace(output=[str(tmp_path / name)]) for name in ("made", "failed"))
    for job in (made, failed):
        asyncio.run(persistence.finished(job))
    assert recorded == ([made, failed] if kept else [made])

"""Preparation and start of a run: Pythons, patterns, launchers; files, machine, Slurm's jobs, failed jobs."""

import asyncio
import json
import os
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pubmill.errors import PubmillError
from pubmill.hardware.slurm import check_earlier_jobs, launcher
from pubmill.messages.run_sources import VARIABLE
from pubmill.planning.plan import Plan, Training
from pubmill.recipes.reading import LONG, as_argument
from pubmill.specs.study import Study
from pubmill.stages import Graph, checked_graph
from pubmill.stages.gpus import Gpus
from pubmill.workflow import run_start
from pubmill.workflow.preparation import (
    CACHES,
    COMPILED,
    any_of,
    has_own_environments,
    keep_compiled,
    shell_prefix,
    wildcard_patterns,
)
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


CONDA, APPTAINER, MODULES = "CONDA", "APPTAINER", "ENV_MODULES"
"""Names of Snakemake's methods of deployment."""


def study(container: str | None) -> Study:
    return Study(study="x", title="", scale="demo", tables=(), container=container)


def own(methods: set[str], container: str | None = None) -> bool:
    return has_own_environments(methods, study(container))


def test_conda_and_images_bring_their_own_python() -> None:
    assert not own(set()) and not own(set(), "pubmill.sif") and not own({MODULES})
    assert own({CONDA}) and own({APPTAINER}, "pubmill.sif") and own({APPTAINER, CONDA}, "pubmill.sif")


def test_without_an_image_there_is_nothing_to_run_in() -> None:
    with pytest.raises(PubmillError, match="names no image; set `container:`"):
        own({APPTAINER})


@pytest.mark.parametrize("image", ["/data/pubmill.sif", "docker://ghcr.io/a/pubmill@sha256:0a"])
def test_images_are_files_or_addresses(image: str) -> None:
    assert study(image).container == image


@pytest.mark.parametrize("image", ["", "a b.sif", "a;b", "$(id)", "`id`", "a'b", "{x}", "--bind", "a\n"])
def test_what_a_shell_would_read_is_no_image(image: str) -> None:
    """Snakemake puts the image into a shell's command as it is."""
    with pytest.raises(ValidationError):
        study(image)


def test_compiled_kernels_are_kept_below_the_results_or_where_the_user_wants(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, theirs = CACHES
    monkeypatch.setenv(mine, "restored afterwards")
    monkeypatch.delenv(mine)
    monkeypatch.setenv(theirs, "/of mine")
    keep_compiled(tmp_path / "results")
    assert (os.environ[mine], os.environ[theirs]) == (str(tmp_path / "results/.compiled/torch"), "/of mine")
    assert f"results/{COMPILED}" in (root / "Makefile").read_text().partition("\nclean:\n")[2]


@given(st.lists(st.text(min_size=1, max_size=8), max_size=6), st.text(min_size=1, max_size=8))
def test_a_pattern_matches_its_names_alone(names: list[str], other: str) -> None:
    pattern = re.compile(any_of(names))
    assert all(pattern.fullmatch(name) for name in names)
    assert bool(pattern.fullmatch(other)) == (other in names)


def test_wildcards_are_one_part_of_a_path_or_a_known_name() -> None:
    patterns = wildcard_patterns(["blurb", "gu2020"])
    assert re.fullmatch(patterns["model"], "bio-lm@1") and not re.fullmatch(patterns["model"], "a/b")
    assert re.fullmatch(patterns["protocol"], "blurb") and not re.fullmatch(patterns["protocol"], "lewis2020")
    assert re.fullmatch(patterns["table"], "table06") and not re.fullmatch(patterns["table"], "table")
    assert re.fullmatch(patterns["table"], "section3") and not re.fullmatch(patterns["table"], "section")
    assert re.fullmatch(patterns["seed"], "12") and not re.fullmatch(patterns["seed"], "{seed}")


@pytest.mark.parametrize("own", [False, True])
def test_programs_import_the_checkout_and_stop_at_the_first_fault(tmp_path: Path, own: bool) -> None:
    root = tmp_path / "a 'checkout' of pubmill"
    prefix = shell_prefix(root, own)
    shown = subprocess.run(
        ["bash", "-c", f"{prefix} echo $PYTHONPATH; false | true; echo on"], capture_output=True, text=True
    )
    assert (shown.returncode, shown.stdout) == (1, f"{root}\n")
    assert ("PATH=" in re.sub(r"PYTHON\w+=", "", prefix)) is not own


def test_processes_are_started_by_torchrun_on_each_node() -> None:
    assert launcher(1, 1, 8) == "python"
    assert launcher(1, 4, 8) == "python -m torch.distributed.run --nproc-per-node=4 --standalone"
    srun, torchrun = launcher(2, 4, 16).split(" python ")
    assert {"srun", "--nodes=2", "--ntasks=2", "--ntasks-per-node=1", "--cpus-per-task=16"} <= set(
        srun.split()
    )
    assert "--nproc-per-node=4 --nnodes=2 --rdzv-backend=c10d --rdzv-id=$SLURM_JOB_ID" in torchrun


def test_processes_have_as_long_to_save_as_the_profile_leaves_before_the_limit(root: Path) -> None:
    assert "SHUTDOWN_TIMEOUT:-180" in (root / "rules/pretraining.smk").read_text()
    assert "--signal=TERM@180'" in (root / "profiles/slurm/config.yaml").read_text()

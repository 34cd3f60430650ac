"""Start of a run: files that cannot be reached, the lock, and Slurm's jobs."""

import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.jobs import Reason

from pubmill.errors import PubmillError
from pubmill.messages.run_sources import VARIABLE
from pubmill.specs import load
from pubmill.specs.study import Study
from pubmill.stages import Graph, checked_graph
from pubmill.stages.params_text import LONG, recipe_argument
from pubmill.storage.result_paths import Paths
from pubmill.workflow import run_start

URL = (
    "raw.githubusercontent.com/cambridgeltl/MTL-Bioinformatics-2016/"
    "df0df02fae6dbb87d88ffcf323b9096528f06f84/data/BC2GM-IOB/train.tsv"
)


@pytest.fixture
def targets(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Graph:
    """Targets of a study whose mirror is empty; results are below the test's folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, "")  # so that it is restored
    (tmp_path / "mirror").mkdir()
    study = Study(study="x", title="x", scale="demo", tables=(), mirror=str(tmp_path / "mirror"))
    return checked_graph(study, load(root / "specs", "demo"))


def workflow(run: str | None = None, *, to_do: bool = True) -> SimpleNamespace:
    """A workflow whose graph has one download; `run`: the name of its Slurm jobs."""
    params = ["1", recipe_argument({"a": "b" * LONG}, Paths("results"))]
    job = SimpleNamespace(rule=SimpleNamespace(name="download"), wildcards_dict={"path": URL}, params=params)
    executor = SimpleNamespace(run_uuid=run) if run else SimpleNamespace()
    return SimpleNamespace(
        dag=SimpleNamespace(
            jobs=[job],
            needrun=lambda _: to_do,
            reason=lambda _: Reason(),
            workflow=SimpleNamespace(_localrules={"download"}),
        ),
        scheduler=SimpleNamespace(_executor=executor),
        config_settings=SimpleNamespace(configfiles=[Path("studies/mine.yaml")]),
    )


def test_files_that_cannot_be_reached_are_named_with_the_command_that_fetches_them(
    targets: Graph, tmp_path: Path
) -> None:
    with pytest.raises(PubmillError) as error:
        run_start.begin(workflow(), targets, {})
    first, file, advice = str(error.value).splitlines()
    assert first == "files cannot be reached:"
    assert file == f"https://{URL}: expected the file {tmp_path / 'mirror' / URL}"
    assert "pubmill mirror studies/mine.yaml --fetch FOLDER" in advice


def test_finished_jobs_need_no_files_and_the_run_holds_the_lock(targets: Graph) -> None:
    held = run_start.begin(workflow(to_do=False), targets, {"graph": {"a": "0"}})
    assert not Path("results/.recipes").exists()
    assert held.is_locked and (Path(targets.results) / ".lock").is_file()
    assert not (Path(targets.results) / ".slurm-run").exists()
    assert json.loads(Path(os.environ[VARIABLE]).read_text(encoding="utf-8")) == {"graph": {"a": "0"}}
    held.release()


def test_the_name_of_a_slurm_run_is_recorded(targets: Graph, tmp_path: Path) -> None:
    file = tmp_path / "mirror" / URL
    file.parent.mkdir(parents=True)
    file.touch()
    run_start.begin(workflow("first"), targets, {}).release()
    assert (Path(targets.results) / ".slurm-run").read_text() == "first\n"


@pytest.mark.parametrize(
    ("rule", "installed"), [("download", False), ("finetune", True), ("finetune", False)]
)
def test_a_run_that_trains_needs_torch(monkeypatch: pytest.MonkeyPatch, rule: str, installed: bool) -> None:
    monkeypatch.setattr(run_start, "find_spec", lambda _: "found" if installed else None)
    begun = workflow()
    begun.dag.jobs[0].rule.name = rule
    if rule == "download" or installed:
        run_start.require_torch(begun)
    else:
        with pytest.raises(PubmillError, match=r"torch, which is not installed.* 'DIST.whl\[train\]'"):
            run_start.require_torch(begun)


@pytest.mark.parametrize(
    ("rule", "local", "gpu", "said"),
    [
        ("finetune", True, "nvidia-smi", "pubmill: no compiler\n"),
        ("finetune", False, "nvidia-smi", ""),
        ("finetune", True, None, ""),
        ("download", True, "nvidia-smi", ""),
    ],
)
def test_a_compiler_is_missed_where_a_gpu_of_this_machine_trains(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    rule: str,
    local: bool,
    gpu: str | None,
    said: str,
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: gpu)
    monkeypatch.setattr(run_start, "compiler_fault", lambda: "no compiler")
    begun = workflow()
    begun.local_exec, begun.dag.jobs[0].rule.name = local, rule
    run_start.report_compiler(begun)
    assert capsys.readouterr().err == said

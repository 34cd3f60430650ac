"""Checks before the rules are read, and the pages that a run was asked for."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pubmill.errors import PubmillError
from pubmill.stages import Graph
from pubmill.storage.result_paths import Paths
from pubmill.workflow.preparation import (
    FAILED_CELLS,
    Prepared,
    _study_settings,
    check_state_folder,
    prepare,
    requested_pages,
)

GRAPH = cast(Graph, SimpleNamespace(paths=Paths("results/demo"), study=SimpleNamespace(study="demo")))


def workflow(*files: str) -> Any:
    return SimpleNamespace(dag=SimpleNamespace(targetfiles=files))


def test_requested_pages_come_before_the_report() -> None:
    assert requested_pages(workflow("a.json", "a.html"), GRAPH) == ["a.html"]
    assert requested_pages(workflow("a.json"), GRAPH) == [GRAPH.paths.report("demo", "html")]


@pytest.mark.parametrize("begun", [False, True])
def test_a_folder_that_cannot_hold_the_state_of_snakemake_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begun: bool
) -> None:
    state = tmp_path / ".snakemake"
    if begun:
        state.mkdir()
    check_state_folder(tmp_path)
    locked = state if begun else tmp_path
    monkeypatch.setattr(os, "access", lambda path, mode: path != locked)
    with pytest.raises(PubmillError, match="cannot be written to.*in .snakemake, even for a plan or with -n"):
        check_state_folder(tmp_path)


@pytest.mark.parametrize(("imported", "models"), [(False, None), (True, ["x"])])
def test_a_study_keeps_settings_over_config_yaml_alone(
    tmp_path: Path, imported: bool, models: object
) -> None:
    """A workflow that imports this one gives its whole configuration."""
    (tmp_path / "config.yaml").write_text("study: demo\nscale: demo\nmodels: [x]\nmirror: world\n")
    (tmp_path / "workspace.yaml").write_text("mirror: /own\n")
    given = {} if imported else {"study": "mine", "title": "M", "scale": "full", "tables": []}
    workflow = SimpleNamespace(
        modifier=SimpleNamespace(skip_configfile=imported),
        config_settings=SimpleNamespace(overwrite_config=given),
    )
    found = _study_settings(workflow, {"models": ["x"], "mirror": "/own", **given}, tmp_path)
    assert (found["models"], found["mirror"]) == (models, "/own")


def prepared(
    monkeypatch: pytest.MonkeyPatch,
    steps: list[str],
    *,
    main: bool = True,
    own: bool = False,
    shown: bool = False,
) -> Prepared:
    """What is prepared for a run without jobs, whose `steps` are named as they are done."""
    display = SimpleNamespace(
        describe=lambda *_: steps.append("describe"), mute_jobs=lambda: steps.append("mute"), failed_cells=[]
    )
    modifier = SimpleNamespace(is_main_snakefile=lambda: main, skip_configfile=True)
    begun = SimpleNamespace(is_main_process=main, configfiles=[], modifier=modifier)
    study = SimpleNamespace(results="results")

    def name(step: str, value: Any = None) -> Any:
        def do(*_: Any) -> Any:
            steps.append(step)
            return value

        return do

    def before(workflow: Any, *of_graph: Any) -> None:
        steps.append(f"{len(of_graph)} steps")

    here = "pubmill.workflow.preparation"
    for function, value in {
        "interrupt_plainly": None, "check_state_folder": None, "run_sources": {}, "check_graph_sources": None,
        "forget_failed_jobs": None, "check_files": None, "check_study": (study, None), "read_gpus": None,
        "decide_seeds": None, "keep_compiled": None, "has_own_environments": own, "shell_prefix": "",
        "display_of": display if shown else None, "announce_left_out": name("print left out"), "runs_left": 0,
    }.items():  # fmt: skip
        monkeypatch.setattr(f"{here}.{function}", name(function, value))
    monkeypatch.setattr(f"{here}.before_graph", before)
    monkeypatch.setattr(f"{here}.Graph", lambda *_, **__: GRAPH)
    server = SimpleNamespace(close=name("close"))
    for function, value in {
        "require_torch": None, "begin": "lock", "report_compiler": None, "share_finetunings": server,
    }.items():  # fmt: skip
        monkeypatch.setattr(f"pubmill.workflow.run_start.{function}", name(function, value))
    monkeypatch.setattr("pubmill.workflow.preparation.failed_cells", lambda _: [])
    return prepare(begun, {}, Path())


@pytest.mark.parametrize("main", [True, False])
def test_a_part_of_a_job_compares_its_sources_and_decides_nothing(
    monkeypatch: pytest.MonkeyPatch, main: bool
) -> None:
    """A workflow that imports this one keeps what makes its jobs run again."""
    steps: list[str] = []
    prepared(monkeypatch, steps, main=main)
    of_run = {"check_state_folder", "run_sources", "decide_seeds"}
    assert of_run & set(steps) == (of_run if main else set())
    assert ("check_graph_sources" in steps) is not main
    assert ("4 steps" if main else "3 steps") in steps


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("shown", [False, True])
def test_a_run_begins_and_ends_in_order(monkeypatch: pytest.MonkeyPatch, own: bool, shown: bool) -> None:
    """Jobs with environments of their own share no process, and need no torch here."""
    steps: list[str] = []
    made = prepared(monkeypatch, steps, own=own, shown=shown)
    assert ("describe" in steps) is shown
    steps.clear()
    assert cast(Any, made.begin()) == "lock"
    here = [] if own else ["report_compiler", "share_finetunings"]
    muted = ["mute"] if shown else []
    assert steps == [*([] if own else ["require_torch"]), "begin", *here, "print left out", *muted]
    steps.clear()
    made.end()
    assert steps == [*([] if own else ["close"]), "runs_left"]


@pytest.mark.parametrize("shown", [False, True])
def test_the_end_of_a_run_names_runs_that_are_left_and_cells_that_failed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], shown: bool
) -> None:
    made = prepared(monkeypatch, [], shown=shown)
    monkeypatch.setattr("pubmill.workflow.preparation.runs_left", lambda _: 5)
    monkeypatch.setattr("pubmill.workflow.preparation.failed_cells", lambda _: ["failed: a", "failed: b"])
    with pytest.raises(SystemExit) as ended:
        made.end()
    said = capsys.readouterr()
    assert ended.value.code == FAILED_CELLS
    assert said.out == "5 more runs may decide which models are better; the same command makes them\n"
    assert said.err == ("" if shown else "failed: a\nfailed: b\n")

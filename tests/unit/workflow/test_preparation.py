"""Checks before the rules are read, and the pages that a run was asked for."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pubmill.errors import PubmillError
from pubmill.stages import Graph
from pubmill.storage.result_paths import Paths
from pubmill.workflow.preparation import _study_settings, check_state_folder, requested_pages

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

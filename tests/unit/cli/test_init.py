"""`pubmill init`, and commands in the workspace that it makes."""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from pubmill.cli import checkout as checkouts
from pubmill.cli.app import APP
from pubmill.cli.studies import studies_folder
from pubmill.errors import PubmillError
from pubmill.specs.study import study_of_scale
from tests.unit.cli.conftest import graph_of

SHIPPED = "specs/models/no-pretraining.yaml"


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new workspace; the current folder."""
    answer = CliRunner().invoke(APP, ["init", str(tmp_path / "w")])
    assert answer.output.startswith(f"{tmp_path}/w is a workspace")
    monkeypatch.chdir(tmp_path / "w")
    monkeypatch.setenv("PYTHONPATH", "")
    checkouts._tell_replaced.cache_clear()
    return tmp_path / "w"


def said(*words: str) -> str:
    answer = CliRunner().invoke(APP, words)
    return f"error: {answer.exception}" if isinstance(answer.exception, PubmillError) else answer.output


def test_a_workspace_lists_what_pubmill_has_and_its_own(workspace: Path) -> None:
    (workspace / "studies/mine.yaml").write_text("study: mine\ntitle: My study\nscale: full\ntables: []\n")
    listed = said("list", "studies")
    assert "\nmine          My study (scale full)\n" in listed and "gu2020" in listed
    text = (workspace / ".pubmill" / SHIPPED).read_text().replace("label: No pretraining", "label: Mine")
    (workspace / "specs/models").mkdir()
    (workspace / SHIPPED).write_text(text)
    listed = said("list", "models")
    assert f"of this workspace, in place of pubmill's own: {SHIPPED}\n" in listed
    assert [line for line in listed.splitlines() if line.split() == ["no-pretraining", "Mine"]]
    (workspace / "specs/models/mine.yaml").write_text("name: mine\nlabell: Mine\n")
    assert "\nspecs/models/mine.yaml:2: labell: unknown key" in said("list", "models")


def test_snakemake_starts_with_pubmill_s_workflow(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run: list[list[str]] = []

    def start(words: list[str]) -> SimpleNamespace:
        run.append(words)
        return SimpleNamespace(wait=lambda: 1)

    monkeypatch.setattr(subprocess, "Popen", start)
    monkeypatch.setattr("pubmill.cli.run_requests.Request.checked_graph", graph_of)
    said("run", "gu2020", "table06", "--profile", "profiles/local", "-j", "1")
    assert shlex.join(run[0]) == (
        f"{sys.executable} -m snakemake --logger=pubmill results/full/tables/gu2020/gu2020-table06.html"
        " --snakefile .pubmill/Snakefile --configfile .pubmill/studies/gu2020.yaml"
        " --profile .pubmill/profiles/local -j 1"
    )
    assert os.environ["PYTHONPATH"] == str(workspace / ".pubmill")


def test_a_table_has_the_study_of_its_paper_and_new_specs_are_the_workspace_s_own(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert study_of_scale("full", studies_folder(), "gu2020/table06") == [".pubmill/studies/gu2020.yaml"]
    written = said("new", "table", "mine/table01", "--dataset", "bc2gm", "--model", "no-pretraining")
    assert written.startswith("specs/tables/mine/table01.yaml\nspecs/tables/mine/table01.published.csv\n")
    text = (workspace / "specs/tables/mine/table01.yaml").read_text()
    assert text.startswith("# yaml-language-server: $schema=../../../.pubmill/schemas/tables.json\n")
    assert "\nmine/table01 " in said("list", "tables")


def test_files_that_are_there_stay(workspace: Path) -> None:
    (workspace / "config.yaml").write_text("results: elsewhere\n")
    assert "elsewhere/full/tables/gu2020/gu2020-table06.html does not" in said("open", "gu2020", "table06")
    (workspace / "README.md").unlink()
    assert ". is a workspace" in said("init", ".")
    assert (workspace / "config.yaml").read_text() == "results: elsewhere\n"
    assert (workspace / "README.md").is_file()


def test_a_checkout_needs_no_workspace(root: Path) -> None:
    assert said("init", str(root)).startswith(f"error: {root} is a checkout, in which all commands run;")
    assert not (root / ".pubmill").exists()

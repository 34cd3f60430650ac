"""Sources that change while a run goes on: its jobs are refused before they write anything."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.messages.run_sources import VARIABLE, check_graph_sources, run_sources

PROGRAM = "pubmill/jobs/select_trial.py"
IMPORTING = "from pubmill.errors import run; import importlib; run(lambda: importlib.import_module('{}'))"


@pytest.fixture(scope="module")
def checkout(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the code, with the digests of a run that has begun."""
    folder = tmp_path_factory.mktemp("sources") / "checkout"
    for name in ("pubmill", "scripts", "rules"):
        shutil.copytree(root / name, folder / name)
    (folder / "config.yaml").write_text("study: demo\n")
    (folder.parent / "run.json").write_text(json.dumps(run_sources(folder, [folder / "config.yaml"])))
    return folder


@pytest.fixture(autouse=True)
def begun(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(checkout.parent / "run.json"))
    monkeypatch.setenv("PYTHONPATH", str(checkout))


@pytest.fixture
def changed(checkout: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A file with a line more and its old time."""
    path = checkout / request.param
    content, stat = path.read_bytes(), path.stat()
    path.write_bytes(content + b"\n")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    yield path
    path.write_bytes(content)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def started(checkout: Path, *words: str) -> tuple[int, str]:
    done = subprocess.run([sys.executable, *words], cwd=checkout, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "changed",
    [PROGRAM, "pubmill/finetuning/trial_selection.py", "pubmill/recipes/finetuning.py"],
    indirect=True,
)
def test_a_program_whose_sources_changed_is_refused_with_their_names(checkout: Path, changed: Path) -> None:
    name = changed.relative_to(checkout)
    status, said = started(checkout, "-m", "pubmill.job", "select_trial", "--help")
    assert status == 1 and re.fullmatch(
        rf"pubmill: error: changed since this run began: {name}\. .*Run the same command again.*\n", said
    )


@pytest.mark.parametrize(
    "changed",
    ["pubmill/jobs/score.py", "pubmill/tables/cells.py", "pubmill/errors.py", "pubmill/stages/run_stages.py"],
    indirect=True,
)
def test_changes_of_other_stages_and_of_messages_stop_nothing(checkout: Path, changed: Path) -> None:
    assert started(checkout, "-m", "pubmill.job", "select_trial", "--help") == (0, "")


@pytest.mark.parametrize("changed", ["pubmill/metrics/entities.py"], indirect=True)
def test_without_a_run_nothing_is_compared(
    checkout: Path, changed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE)
    assert started(checkout, "-m", "pubmill.job", "score", "--help") == (0, "")


@pytest.mark.parametrize(
    "changed, module",
    [
        ("pubmill/metrics/entities.py", "pubmill.metrics.entities"),
        ("pubmill/report/templates/table.html.j2", "pubmill.report.rendering"),
    ],
    indirect=["changed"],
)
def test_what_a_program_imports_later_is_compared_then(checkout: Path, changed: Path, module: str) -> None:
    status, said = started(checkout, "-c", IMPORTING.format(module))
    assert status == 1 and f"since this run began: {changed.relative_to(checkout)}." in said


def test_a_module_that_is_new_is_a_change(checkout: Path) -> None:
    new = checkout / "pubmill/metrics/new.py"
    new.write_text("")
    status, said = started(checkout, "-c", IMPORTING.format("pubmill.metrics.new"))
    new.unlink()
    assert status == 1 and "pubmill/metrics/new.py" in said


@pytest.mark.parametrize(
    "changed", ["pubmill/stages/run_stages.py", "rules/tables.smk", "config.yaml"], indirect=True
)
def test_a_job_that_reads_the_rules_again_compares_what_the_graph_is_made_from(changed: Path) -> None:
    with pytest.raises(PubmillError, match=rf"since this run began: .*{changed.name}\."):
        check_graph_sources()


def test_five_changed_files_are_named_and_lost_digests_are_an_error(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_graph_sources()
    monkeypatch.setenv(VARIABLE, str(tmp_path / "known.json"))
    for number, message in (
        (0, r"known\.json, which lists the sources of this run, cannot be read"),
        (5, r"file0, .*file4\. The job"),
        (8, r"file0, .*file4 and 3 more\. The job"),
    ):
        if number:
            graph = {str(tmp_path / f"file{n}"): "0" for n in range(number)}
            (tmp_path / "known.json").write_text(json.dumps({"graph": graph}))
        with pytest.raises(PubmillError, match=message):
            check_graph_sources()

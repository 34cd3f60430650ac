"""Sources that change while a run goes on: its jobs are refused before they write anything.

The attack `changed-code` tries other programs and sources.
"""

import json
import re
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.messages.run_sources import VARIABLE, check_graph_sources, run_sources
from tests.attack.edits import IMPORTING, checkout, edited, started

HELP = ("-m", "pubmill.job", "select_trial", "--help")


def after_a_change(name: str, *words: str) -> tuple[int, str]:
    """Run a command of the checkout, one of whose files has a line more and its old time."""
    path = checkout() / name
    with edited(path, path.read_bytes() + b"\n"):
        done = started(*words)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("pubmill/jobs/select_trial.py", HELP), ("pubmill/recipes/finetuning.py", HELP),
        ("pubmill/metrics/entities.py", ("-c", IMPORTING.format("pubmill.metrics.entities"))),
        ("pubmill/report/templates/table.html.j2", ("-c", IMPORTING.format("pubmill.report.rendering"))),
    ],
)  # fmt: skip
def test_what_has_changed_before_a_start_or_an_import_is_named(name: str, words: tuple[str, ...]) -> None:
    status, said = after_a_change(name, *words)
    expected = rf"pubmill: error: changed since this run began: {name}\. .*Run the same command again.*\n"
    assert status == 1 and re.fullmatch(expected, said)


@pytest.mark.parametrize(
    "name", ["pubmill/jobs/score.py", "pubmill/errors.py", "pubmill/stages/run_stages.py"]
)
def test_changes_of_other_stages_and_of_messages_stop_nothing(name: str) -> None:
    assert after_a_change(name, *HELP) == (0, "")


def test_a_module_that_is_new_is_a_change() -> None:
    new = checkout() / "pubmill/metrics/new.py"
    new.write_text("")
    done = started("-c", IMPORTING.format("pubmill.metrics.new"))
    new.unlink()
    assert done.returncode == 1 and "pubmill/metrics/new.py" in done.stderr


@pytest.mark.parametrize("name", ["pubmill/stages/run_stages.py", "rules/tables.smk", "config.yaml"])
def test_a_job_that_reads_the_rules_again_compares_what_the_graph_is_made_from(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = checkout() / "config.yaml"
    config.write_text("study: demo\n")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "run.json"))
    (tmp_path / "run.json").write_text(json.dumps(run_sources(checkout(), [config])))
    check_graph_sources()
    with edited(checkout() / name, (checkout() / name).read_bytes() + b"\n"):
        with pytest.raises(PubmillError, match=rf"since this run began: .*{Path(name).name}\."):
            check_graph_sources()


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (0, r"known\.json, which lists the sources of this run, cannot be read"),
        (5, r"file0, .*file4\. The job"), (8, r"file0, .*file4 and 3 more\. The job"),
    ],
)  # fmt: skip
def test_five_changed_files_are_named_and_lost_digests_are_an_error(
    number: int, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "known.json"))
    if number:
        graph = {str(tmp_path / f"file{n}"): "0" for n in range(number)}
        (tmp_path / "known.json").write_text(json.dumps({"graph": graph}))
    with pytest.raises(PubmillError, match=message):
        check_graph_sources()

"""`pubmill audit` with and without a further word."""

from pathlib import Path

import pytest

from pubmill.extras.audit.printed_values_of_runs import _points
from pubmill.specs import Specs
from tests.unit.programs import run_verb


def test_the_page_is_written_only_without_a_further_word(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    written: list[str] = []
    monkeypatch.setattr("pubmill.extras.audit.audit_command.page", lambda: written.append("page"))
    said = run_verb("audit", "value", "87.56", "--metric", "accuracy", "--n", "140", "--runs", "10")
    assert said.returncode == 0 and said.stdout and written == []
    assert run_verb("audit").returncode == 0 and written == ["page"]


def test_an_unknown_metric_of_a_printed_number_is_named() -> None:
    said = run_verb("audit", "value", "87.56", "--metric", "acuracy", "--n", "140")
    assert said.returncode == 1 and "there is no metric 'acuracy'; the nearest: accuracy" in said.stderr


def test_a_finished_pipeline_chooses_among_nothing(full_specs: Specs) -> None:
    run = "off-the-shelf/scispacy-bc5cdr/bc5-chem/as-it-is"
    assert _points(run, full_specs) == {run}
    assert len(_points("blurb/pubmedbert-base/bc2gm/standard", full_specs)) >= 1

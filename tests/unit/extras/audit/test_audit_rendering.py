"""The page of the audit, docs/audit.md, and its section in the report."""

from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.extras.audit.value_audit import AUDIT_RENDERERS, Audit, Finding
from pubmill.report.rendering import to_json
from pubmill.report.study_report import read_report, render
from pubmill.tables.cells import read_as
from tests.unit import toy_tables as made_up
from tests.unit.programs import run_verb
from tests.unit.report.toy_reports import HOSTILE, put, put_table, recipe


def finding(table: str, printed: str, verdict: str, why: str) -> Finding:
    paper, _, name = table.partition("/")
    values = {"table": table, "paper": paper, "number": int(name[-2:]), "model": HOSTILE, "dataset": "A|B"}
    texts = {"metric": "accuracy", "printed": printed, "verdict": verdict, "test": "k/10", "why": why}
    return Finding.model_validate({**values, **texts, "change": "none", "chance": (1, 10)})


FOUND = Audit(
    findings=(
        finding("gu2020/table06", "-0.5", "unreachable", "the nearest scores"),
        finding("gu2020/table06", "70.0", "reachable", ""),
        finding("gu2020/table07", "-0.5", "unreachable", "the nearest scores"),
        finding("shin2020/table01", "1.0", "untestable", f"not stated {HOSTILE}"),
    )
)


def test_the_page_names_verdicts_places_and_reasons_and_escapes_them() -> None:
    page = AUDIT_RENDERERS["html"](FOUND)
    assert "gu2020 Tables 6, 7" in page and "The nearest scores." in page and "10.0 %" in page
    assert "<img" not in page and "&lt;img" in page
    assert "A|B" in page


def test_a_written_audit_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "audit.json"
    path.write_text(AUDIT_RENDERERS["json"](FOUND))
    assert read_as(Audit, path) == FOUND
    path.write_text("{}")
    with pytest.raises(PubmillError, match=r"audit\.json is not a Audit"):
        read_as(Audit, path)


def test_the_report_of_a_comparable_study_has_the_verdicts_on_its_tables(tmp_path: Path) -> None:
    put_table(tmp_path, made_up.table(tmp_path, made_up.recipe(records={})))
    bare: dict[str, Any] = {
        "pretraining": {}, "corpora": [], "vocabs": [], "datasets": [], "models": [], "sources": [],
    }  # fmt: skip
    assert "Are these numbers possible?" not in render(read_report(recipe(**bare), tmp_path))
    with pytest.raises(PubmillError, match=r"audit\.json"):
        read_report(recipe(**bare, sections=["audit"]), tmp_path)
    put(tmp_path / "pages/audit.json", to_json(FOUND))
    page = render(read_report(recipe(**bare, sections=["audit"]), tmp_path))
    assert page.count("Are these numbers possible?") == 2 and "gu2020 Table 6<" in page
    assert "shin2020" not in page and "gu2020 Tables 6, 7" not in page


def test_the_page_by_the_command_names_its_files(tmp_path: Path) -> None:
    made = run_verb("audit", "gu2020/table06", "--results", tmp_path)
    pages = [tmp_path / f"pages/audit.{form}" for form in ("json", "html")]
    assert made.stdout.splitlines()[-2:] == list(map(str, pages)) and all(map(Path.is_file, pages))
    head, line, *_ = made.stdout.splitlines()
    assert head.split() == ["paper", "reachable", "unreachable", "untestable"] and line.startswith("gu2020")
    assert "no table of results of a paper 'gu2020/table60'" in run_verb("audit", "gu2020/table60").stderr


def test_one_number_by_the_command() -> None:
    made = run_verb("audit", "--value", "87.56", "--metric", "accuracy", "--n", "140", "--runs", "10")
    assert made.returncode == 0 and len(lines := made.stdout.splitlines()) == 5
    assert lines[0] == "87.56: unreachable under the stated protocol"


def test_a_metric_that_does_not_exist_is_reported_with_the_nearest() -> None:
    said = run_verb("audit", "--value", "9", "--metric", "f2", "--n", "3").stderr
    assert "there is no metric 'f2'; the nearest: f1" in said

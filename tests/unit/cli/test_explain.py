"""`pubmill explain`: which table, study and cell it explains, and in which form."""

from typing import Any

import pytest

from pubmill.inspection.explain import cell_explanations, explanation_printing, table_statements
from tests.unit.cli.conftest import Said


@pytest.fixture
def explained(started: Said, monkeypatch: pytest.MonkeyPatch) -> Said:
    """Run `pubmill explain WORDS`, where explanations are named instead of made."""
    monkeypatch.setattr(table_statements, "table_statements", lambda specs, table: f"table {table}")
    monkeypatch.setattr("pubmill.cli.studies.configured_graph", lambda *about: about)
    monkeypatch.setattr(cell_explanations, "Explainer", lambda graph, _, *more: (graph, *more))
    monkeypatch.setattr(cell_explanations, "explain", lambda *about: f"cell {about}")
    monkeypatch.setattr(explanation_printing, "to_json", lambda what: f"JSON of {what}")
    for name in ("print_explanation", "print_statements"):
        monkeypatch.setattr(
            explanation_printing, name, lambda _, what, whole, name=name: print(name, what, whole)
        )

    def said(*words: str) -> str:
        return started("explain", *words).strip()

    return said


@pytest.mark.parametrize(
    ("words", "table"),
    [
        ("gu2020/table06", "gu2020/table06"),
        ("gu2020/table06 --study small", "gu2020/table06"),
        ("table12", "gu2020/table12"),
        ("table09 --study gu2020", "gu2020/table09"),
    ],
)
def test_what_differs_in_a_table_is_printed_without_a_row(explained: Said, words: str, table: str) -> None:
    assert explained(*words.split()).endswith(f"print_statements table {table} False")
    assert explained(*words.split(), "--all").endswith(f"print_statements table {table} True")
    assert explained(*words.split(), "--json") == f"JSON of table {table}"


def test_a_table_with_its_paper_needs_no_study_that_has_it(explained: Said) -> None:
    assert explained("nobody/table01") == "print_statements table nobody/table01 False"
    assert "there is no table 'nobody/table01'" in explained("nobody/table01", "BC2GM", "BERT")


def cell(study: str, files: list[str] | None, settings: list[str] | None, all_files: Any) -> str:
    explainer = ((study, files, settings), all_files, tuple(settings or ()))
    return f"cell {(explainer, 'gu2020/table09', 'BC2GM', 'BERT')}"


def test_a_cell_is_explained_by_the_study_with_its_settings(explained: Said, checkout: Any) -> None:
    words = ("gu2020/table09", "BC2GM", "BERT")
    found = cell("gu2020", None, [], ("studies/gu2020.yaml",))
    assert explained(*words) == f"print_explanation {found} False"
    assert explained(*words, "--json") == f"JSON of {found}"
    (checkout / "mine.yaml").write_text("mirror: null\n")
    found = cell("gu2020", ["mine.yaml"], ["results=there"], ("studies/gu2020.yaml", "mine.yaml"))
    more = ("--configfile", "mine.yaml", "--config", "results=there")
    assert explained(*words, *more) == f"print_explanation {found} False"

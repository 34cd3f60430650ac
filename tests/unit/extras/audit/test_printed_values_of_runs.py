"""Printed values against the runs that make them here."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pubmill.errors import PubmillError
from pubmill.extras.audit import printed_values_of_runs
from pubmill.extras.audit.audit_stages import graph_of_all_tables
from pubmill.extras.audit.printed_values_of_runs import (
    DIFFERENT,
    EQUAL,
    RunsFinding,
    as_text,
    check_reasons,
    findings_on_runs,
)
from pubmill.stages import Graph

Change = Callable[[str, str, str], list[RunsFinding]]


@pytest.fixture(scope="module")
def known(root: Path) -> tuple[Graph, list[RunsFinding]]:
    graph = graph_of_all_tables(root / "specs")
    return graph, findings_on_runs(graph, root / "specs")


@pytest.fixture
def changed(root: Path, tmp_path: Path) -> Change:
    """The findings on the specs with a text of one table replaced."""

    def findings(table: str, old: str, new: str) -> list[RunsFinding]:
        shutil.copytree(root / "specs", tmp_path / "specs")
        file = tmp_path / f"specs/tables/{table}"
        text = file.read_text(encoding="utf-8")
        assert old in text
        file.write_text(text.replace(old, new), encoding="utf-8")
        graph = graph_of_all_tables(tmp_path / "specs")
        return findings_on_runs(graph, tmp_path / "specs")

    return findings


def lacking(found: list[RunsFinding]) -> set[tuple[str, ...]]:
    return {(one.kind, *one.subject) for one in found if not one.why}


def test_every_finding_on_the_papers_tables_has_a_reason(known: tuple[Graph, list[RunsFinding]]) -> None:
    graph, found = known
    assert {one.kind for one in found} == {EQUAL, DIFFERENT}
    check_reasons(found, graph.specs)


def test_a_search_that_contains_the_other_explains_equal_values(
    known: tuple[Graph, list[RunsFinding]],
) -> None:
    """tinn2021 Table 9: seven optimal values of PubMedBERT LARGE are the standard ones."""
    [one] = [one for one in known[1] if one.subject == ("pubmedbert-large", "bc2gm", "entity_f1")]
    assert {value.text for value in one.values} == {"84.72"} and one.kind == EQUAL
    assert one.why[0].startswith("the search of tinn2021/pubmedbert-large/bc2gm/extensive-search contains")
    assert "84.72  tinn2021/table06 pubmedbert-large: tinn2021/pubmedbert-large/bc2gm/standard" in as_text(
        [one]
    )


def test_equal_values_of_another_search_are_found(changed: Change) -> None:
    """Table 9's standard as gu2020's fine-tuning, although its values are those of Table 6, and the mean of
    its questions that of Table 5."""
    found = changed(
        "tinn2021/table09.yaml",
        "  - model: pubmedbert-large\n",
        "  - model: pubmedbert-large\n    protocol: blurb\n",
    )
    datasets = {subject[2] for subject in lacking(found) if subject[1] == "pubmedbert-large"}
    assert {"bc5-chem", "ddi@blurb", "hoc@blurb", "mean of"} <= datasets


def test_different_values_of_one_search_are_found(changed: Change) -> None:
    """Table 8's PubMedELECTRA as gu2020's fine-tuning, although 10 values are not Table 2's; without the
    remark of Table 2 they have no reason."""
    found = changed(
        "tinn2021/table08.yaml",
        "  - model: pubmedelectra-base\n    setting",
        "  - model: pubmedelectra-base\n    protocol: blurb\n    setting",
    )
    differ = [one for one in found if one.kind == DIFFERENT and one.subject[0] == "pubmedelectra-base"]
    assert len(differ) == 11  # ten datasets, and the mean of the questions
    assert all("Table 8 prints other values" in one.why[0] for one in differ[:1])


@pytest.mark.parametrize(
    ("remarks", "message"),
    [
        ({"bc5-chem": "x"}, "no reason for pubmedbert-base, jnlpba, entity_f1"),
        ({"ddi@blurb": "x", "jnlpba": "x"}, "gu2020/table10: ddi@blurb: COINCIDENCES"),
    ],
)
def test_a_missing_and_a_needless_reason_are_errors(
    root: Path, monkeypatch: pytest.MonkeyPatch, remarks: dict[str, str], message: str
) -> None:
    monkeypatch.setitem(printed_values_of_runs.COINCIDENCES, "gu2020/table10", remarks)
    graph = graph_of_all_tables(root / "specs")
    with pytest.raises(PubmillError, match=message):
        check_reasons(findings_on_runs(graph, root / "specs"), graph.specs)


def test_values_that_are_not_judged_are_left_out(known: tuple[Graph, list[RunsFinding]]) -> None:
    """BIOSSES of standard fine-tuning in Table 9 is not comparable; Table 5 prints another value."""
    places = {(one.table, one.column, row) for found in known[1] for one in found.values for row in one.rows}
    assert ("tinn2021/table09", "pubmedbert-large", "biosses") not in places
    assert ("tinn2021/table09", "pubmedbert-large.optimal", "biosses") in places

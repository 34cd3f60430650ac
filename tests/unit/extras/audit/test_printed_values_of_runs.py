"""Printed values against the runs that make them here."""

import pytest

from pubmill.errors import PubmillError
from pubmill.extras.audit import printed_values_of_runs
from pubmill.extras.audit.printed_values_of_runs import (
    DIFFERENT,
    EQUAL,
    RunsFinding,
    as_text,
    check_reasons,
    findings_on_runs,
)
from pubmill.specs import Specs
from pubmill.stages import Graph
from tests.conftest import ROOT
from tests.unit.toy_studies import GraphOf

SPECS = ROOT / "specs"


@pytest.fixture(scope="module")
def found(full_graph: Graph) -> list[RunsFinding]:
    return findings_on_runs(full_graph, SPECS)


def with_gu2020_protocol(specs: Specs, graph_of: GraphOf, table: str, column: str) -> list[RunsFinding]:
    """Return the findings with a column of a table read as gu2020's fine-tuning."""
    spec = specs.tables[table]
    changed = spec.model_copy(
        update={
            "columns": tuple(
                one.model_copy(update={"protocol": "blurb"}) if one.name == column else one
                for one in spec.columns
            )
        }
    )
    own = specs.model_copy(update={"tables": {**specs.tables, table: changed}})
    return findings_on_runs(graph_of(own), SPECS)


def lacking(found: list[RunsFinding]) -> set[tuple[str, ...]]:
    return {(one.kind, *one.subject) for one in found if not one.why}


def test_every_finding_on_the_papers_tables_has_a_reason(found: list[RunsFinding], full_specs: Specs) -> None:
    assert {one.kind for one in found} == {EQUAL, DIFFERENT}
    check_reasons(found, full_specs)


def test_a_search_that_contains_the_other_explains_equal_values(found: list[RunsFinding]) -> None:
    """tinn2021 Table 9: seven optimal values of PubMedBERT LARGE are the standard ones."""
    [one] = [one for one in found if one.subject == ("pubmedbert-large", "bc2gm", "entity_f1")]
    assert {value.text for value in one.values} == {"84.72"} and one.kind == EQUAL
    assert one.why[0].startswith("the search of tinn2021/pubmedbert-large/bc2gm/extensive-search contains")
    assert "84.72  tinn2021/table06 pubmedbert-large: tinn2021/pubmedbert-large/bc2gm/standard" in as_text(
        [one]
    )


def test_equal_values_of_another_search_are_found(full_specs: Specs, graph_of: GraphOf) -> None:
    """Table 9's standard as gu2020's fine-tuning, although its values are those of Table 6, and the mean of
    its questions that of Table 5."""
    found = with_gu2020_protocol(full_specs, graph_of, "tinn2021/table09", "pubmedbert-large")
    datasets = {subject[2] for subject in lacking(found) if subject[1] == "pubmedbert-large"}
    assert {"bc5-chem", "ddi@blurb", "hoc@blurb", "mean of"} <= datasets


def test_different_values_of_one_search_are_found(full_specs: Specs, graph_of: GraphOf) -> None:
    """Table 8's PubMedELECTRA as gu2020's fine-tuning, although 10 values are not Table 2's; without the
    remark of Table 2 they have no reason."""
    found = with_gu2020_protocol(full_specs, graph_of, "tinn2021/table08", "pubmedelectra-base")
    differ = [one for one in found if one.kind == DIFFERENT and one.subject[0] == "pubmedelectra-base"]
    assert len(differ) == 11  # ten datasets, and the mean of the questions
    assert all("Table 8 prints other values" in one.why[0] for one in differ[:1])


def test_a_missing_and_a_needless_reason_are_errors(
    full_graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    remarks = {"bc5-chem": "x", "ddi@blurb": "x"}
    monkeypatch.setitem(printed_values_of_runs.COINCIDENCES, "gu2020/table10", remarks)
    with pytest.raises(PubmillError) as error:
        check_reasons(findings_on_runs(full_graph, SPECS), full_graph.specs)
    for fault in (
        "no reason for pubmedbert-base, jnlpba, entity_f1",
        "gu2020/table10: ddi@blurb: COINCIDENCES",
    ):
        assert fault in str(error.value)


def test_values_that_are_not_judged_are_left_out(found: list[RunsFinding]) -> None:
    """BIOSSES of standard fine-tuning in Table 9 is not comparable; Table 5 prints another value."""
    places = {(one.table, one.column, row) for finding in found for one in finding.values for row in one.rows}
    assert ("tinn2021/table09", "pubmedbert-large", "biosses") not in places
    assert ("tinn2021/table09", "pubmedbert-large.optimal", "biosses") in places

"""What `pubmill explain TABLE` says: statements by weight, about the cells that take their values."""

import json
from io import StringIO

import pytest
from rich.console import Console

from pubmill.errors import PubmillError
from pubmill.inspection.explain.explanation_printing import print_statements, to_json
from pubmill.inspection.explain.table_statements import (
    TableStatements,
    WeighedStatement,
    by_weight,
    table_statements,
)
from pubmill.specs.cell_sources import AffectedCells
from pubmill.specs.fidelity import FidelityRow
from pubmill.specs.spec_types import Effect, Statement
from tests import full_tables
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def found() -> TableStatements:
    return table_statements(ROOT / "specs", "gu2020/table06")


def row(spec: str, *key: str, **statement: object) -> FidelityRow:
    said = Statement.model_validate({"ours": "a reason", **statement})
    return FidelityRow("x", spec, ".".join(key), "", said, (key,) if key else ())


def test_what_differs_is_first_and_every_statement_is_about_cells_of_the_table(
    found: TableStatements,
) -> None:
    standings = [one.row.statement.standing for one in found.statements]
    assert standings == sorted(standings, key=("differs", "ours", "as the program", "as printed").index)
    assert all(0 < one.cells <= 117 for one in found.statements)
    specs = {one.row.spec for one in found.statements}
    assert {"protocols/blurb", "choices/finetuning", "tables/gu2020/table06", "models/bluebert-base"} <= specs
    assert "protocols/lewis2020" not in specs
    assert any("uncased" in reason for reason in found.reasons) and found.conflicts


def test_known_effects_come_first_and_those_known_to_be_none_last() -> None:
    effects = {"none": 0.0, "small": 0.5, "large": 3.0}
    given = [
        WeighedStatement(row(name, effect=Effect(points=points, source="measured")), 4)
        for name, points in effects.items()
    ]
    given += [WeighedStatement(row("many"), 9), WeighedStatement(row("few"), 1)]
    assert [one.row.spec for one in by_weight(given)] == ["large", "small", "many", "few", "none"]
    assert given[2].effect == "3 points (measured)" and given[3].effect == "not measured"


def test_a_statement_is_about_the_cells_that_take_its_value() -> None:
    affected = AffectedCells(full_tables.specs())
    rates = affected.of(row("protocols/lewis2020", "hyperparameters", "learning_rate"))
    kinds = {affected.cells[cell].data.kind for cell in rates}  # type: ignore[union-attr]
    assert kinds == {"sequence", "multilabel"}  # an override has the rate of tokens
    setting = affected.of(row("protocols/tinn2021", "settings", "layer-freeze"))
    assert setting and {affected.cells[cell].setting for cell in setting} == {"layer-freeze"}
    pico = affected.of(row("protocols/blurb", datasets=("ebm-pico",)))
    assert pico and all("ebm-pico" in name for _, _, name in pico)
    spans = affected.of(row("choices/finetuning", "stride", kinds=("span",)))
    assert spans and {affected.cells[cell].data.kind for cell in spans} == {"span"}  # type: ignore[union-attr]
    trained = {affected.cells[cell].model for cell in affected.of(row("choices/pretraining"))}
    assert "pubmedbert-base@no-nsp" in trained and "pubmedbert-base" not in trained
    base = {affected.cells[cell].model for cell in affected.of(row("pretraining/pubmedbert-base"))}
    assert "pubmedbert-base@no-nsp" in base and "pubmedbert-base" not in base


def test_it_is_printed_and_written_as_json(found: TableStatements) -> None:
    text = StringIO()
    print_statements(Console(file=text, width=200), found)
    assert "gu2020/table06" in text.getvalue() and "How its cells are made" in text.getvalue()
    assert text.getvalue().index("differs: ") < text.getvalue().index("ours: ")
    first = json.loads(to_json(found))["statements"][0]
    assert first["row"]["statement"]["differs"]


def test_a_table_of_facts_has_the_statements_on_its_subjects() -> None:
    facts = table_statements(ROOT / "specs", "gu2020/table05")
    assert {"models/bluebert-base", "pretraining/pubmedbert-base"} <= {
        one.row.spec for one in facts.statements
    }


def test_an_unknown_table_is_an_error() -> None:
    with pytest.raises(PubmillError, match="gu2020/table6"):
        table_statements(ROOT / "specs", "gu2020/table6")

"""What `pubmill explain TABLE` says: statements by weight, about the cells that take their values."""

import json
from collections.abc import Callable
from functools import cache
from io import StringIO

import pytest
from rich.console import Console

from pubmill.inspection.explain.explanation_printing import print_statements, to_json
from pubmill.inspection.explain.table_statements import (
    TableStatements,
    WeighedStatement,
    by_weight,
    table_statements,
)
from pubmill.specs.cell_sources import AffectedCells, CellSource
from pubmill.specs.dataset_specs import DatasetSpec
from pubmill.specs.fidelity import FidelityRow, rows
from pubmill.specs.spec_types import Effect, Statement
from tests import full_tables
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def found() -> TableStatements:
    return table_statements(ROOT / "specs", "gu2020/table06")


def row(spec: str, *key: str, **statement: object) -> FidelityRow:
    said = Statement.model_validate({"ours": "a reason", **statement})
    return FidelityRow("x", spec, ".".join(key), "", said, (key,) if key else ())


def test_the_largest_effect_is_first_then_what_differs_and_all_are_about_cells_of_the_table(
    found: TableStatements,
) -> None:
    first, *others = found.statements
    assert first.row.about == "hyperparameters.bias_correction" and first.moved == 9 < first.cells, "BIOSSES"
    standings = [one.row.statement.standing for one in others]
    assert standings[:4] == ["differs"] * 4 and standings[4] == "ours"
    assert all(0 < one.cells <= 117 for one in found.statements)
    specs = {one.row.spec for one in found.statements}
    assert {"protocols/blurb", "choices/finetuning", "tables/gu2020/table06", "models/bluebert-base"} <= specs
    assert "protocols/lewis2020" not in specs
    assert any("uncased" in reason for reason in found.reasons) and found.conflicts


def test_a_reason_is_its_first_sentences_up_to_160_characters() -> None:
    first = "A short reason."
    for length, fits in ((160, True), (161, False)):
        second = "B" + "x" * (length - len(first) - 2) + "."
        why = WeighedStatement(row("one", ours=f"{first} {second}"), 1).why
        assert why == (f"{first} {second}" if fits else first)


def test_known_effects_come_first_and_those_known_to_be_none_last() -> None:
    effects = {"none": 0.0, "small": 0.5, "large": 3.0}
    given = [
        WeighedStatement(row(name, effect=Effect(points=points, source="measured")), 4, moved=4)
        for name, points in effects.items()
    ]
    given += [WeighedStatement(row("many"), 9), WeighedStatement(row("few"), 1)]
    elsewhere = row("elsewhere", effect=Effect(points=9, source="measured on others", datasets=("x",)))
    given.append(WeighedStatement(elsewhere, 8))
    order = ["large", "small", "many", "elsewhere", "few", "none"]
    assert [one.row.spec for one in by_weight(given)] == order
    assert given[2].effect == "3 points (measured)" and given[3].effect == "not measured"


def test_a_statement_is_about_the_cells_that_take_its_value() -> None:
    affected = AFFECTED()
    rates = affected.of(row("protocols/lewis2020", "hyperparameters", "learning_rate"))
    kinds = {affected.cells[cell].data.kind for cell in rates}  # type: ignore[union-attr]
    assert kinds == {"sequence", "multilabel"}  # an override has the rate of tokens
    setting = affected.of(row("protocols/tinn2021", "settings", "layer-freeze"))
    assert setting and {affected.cells[cell].setting for cell in setting} == {"layer-freeze"}
    pico = affected.of(row("protocols/blurb", datasets=("ebm-pico",)))
    assert pico and all("ebm-pico" in name for _, _, name in pico)
    spans = affected.of(row("choices/finetuning", "stride"))
    assert spans and {affected.cells[cell].data.kind for cell in spans} == {"span"}  # type: ignore[union-attr]
    trained = {affected.cells[cell].model for cell in affected.of(row("choices/pretraining"))}
    assert "pubmedbert-base@no-nsp" in trained and "pubmedbert-base" not in trained


@pytest.fixture(scope="module")
def by_name() -> dict[tuple[str, str], FidelityRow]:
    return {(one.spec, one.about): one for one in rows(ROOT / "specs")}


AFFECTED = cache(lambda: AffectedCells(full_tables.specs()))


@pytest.mark.parametrize(("spec", "about", "cells"), [
    ("protocols/alrowili2021", "casing of BioM-BERT", 18), ("protocols/lewis2020", "folds", 74),
    ("tables/tinn2021/table08", "BIOSSES, optimal", 2), ("tables/shin2020/table01", "column PubMedBERT", 12),
    ("tables/alrowili2021/table02", "cells copied from other papers", 0),
])  # fmt: skip
def test_a_statement_counts_the_cells_that_it_is_about(
    by_name: dict[tuple[str, str], FidelityRow], spec: str, about: str, cells: int
) -> None:
    assert len(AFFECTED().of(by_name[spec, about])) == cells


def test_every_limit_of_a_statement_leaves_cells_to_it(by_name: dict[tuple[str, str], FidelityRow]) -> None:
    """A misspelt model, dataset, setting or column would leave none."""
    for one in by_name.values():
        said = one.statement
        if said.models or said.settings or said.columns or said.datasets:
            assert AFFECTED().of(one), (one.spec, one.about)


def test_no_statement_is_about_runs_that_do_not_use_its_value(
    by_name: dict[tuple[str, str], FidelityRow],
) -> None:
    def behind(spec: str, about: str, fact: Callable[[CellSource, DatasetSpec], str]) -> set[str]:
        cells = (AFFECTED().cells[name] for name in AFFECTED().of(by_name[spec, about]))
        return {fact(cell, cell.data) for cell in cells if cell.data}

    protocols, models = full_tables.specs().protocols, full_tables.specs().models
    blurb, choices = "protocols/blurb", "choices/finetuning"
    assert behind(choices, "dummies of several pieces", lambda _, data: data.task) == {"relation"}
    assert behind(blurb, "hyperparameters.tagging", lambda _, data: data.kind) == {"tokens"}
    assert "regression" not in behind(blurb, "hyperparameters.loss", lambda _, data: data.kind)
    kept = behind(choices, "evaluate_every", lambda cell, _: protocols[cell.protocol].hyperparameters["keep"])
    assert kept == {"best"}
    chosen = behind("protocols/tinn2021", "overrides.optimal-questions", lambda _, data: data.name)
    assert chosen == {"bioasq-yesno"}, "another override decides for all models but one"
    assert all(
        models[name].is_fine_tuned for name in behind(blurb, "final.aggregate", lambda cell, _: cell.model)
    )


def test_a_statement_of_an_included_spec_holds_where_its_value_does(
    by_name: dict[tuple[str, str], FidelityRow],
) -> None:
    pairs = by_name["pretraining/pubmedbert-base", "recipe.objective.pairs"]
    assert "pretraining/pubmedbert-base@no-nsp" not in pairs.heirs
    assert "pretraining/pubmedbert-base@pmc" in pairs.heirs
    masks = by_name["pretraining/pubmedbert-base", "masking of a text that is seen again"]
    models = {AFFECTED().cells[name].model for name in AFFECTED().of(masks)}
    assert "pubmedbert-base@no-nsp" in models and "pubmedbert-base" not in models, "its weights are released"


@pytest.mark.parametrize(("whole", "least", "most"), [(False, 15, 40), (True, 150, 400)])
def test_the_first_screen_of_a_table_is_one(
    found: TableStatements, whole: bool, least: int, most: int
) -> None:
    text = StringIO()
    print_statements(Console(file=text, width=160), found, whole)
    lines = text.getvalue().splitlines()
    assert least < len(lines) < most and lines[0].startswith("gu2020/table06: ")
    assert ("with --all" in text.getvalue()) != whole and "How its cells are made" in text.getvalue()
    assert json.loads(to_json(found))["statements"][1]["row"]["statement"]["differs"]

"""The result tables of the papers as their specs have them, fed with the papers' own numbers."""

from dataclasses import replace
from functools import cache

import pytest

from pubmill.metrics.records import Record
from pubmill.recipes.reading import as_json, read
from pubmill.recipes.tables import TableRecipe
from pubmill.specs.study import Study, with_own_weights
from pubmill.stages import Graph, checked_graph
from pubmill.storage.result_paths import RELATIVE, RunKey
from pubmill.tables.aggregation import build
from pubmill.tables.cells import Table
from pubmill.tables.published_values import read_published
from pubmill.tables.recorded_runs import record_frame, with_records
from tests.full_tables import SPECS, specs, value_of
from tests.unit import toy_tables as made_up

TABLES = sorted(specs().tables)
CONTRADICTIONS = {
    # printed as the mean of PubMedQA and BioASQ; Table 2 has the two
    ("tinn2021/table04", "pubmedelectra-base", "qa"): (77.0, 76.945)
}
"""(table, column, composite) -> what is printed, and what the paper's own numbers give."""


@cache
def targets(*pretrain: str) -> Graph:
    study = Study(study="all", title="", scale="full", tables=tuple(TABLES))
    return checked_graph(study, with_own_weights(specs(), pretrain))


@cache
def fed(name: str) -> Table:
    """The table, where each run scores what is printed of its cell, here or in another table of the paper."""
    recipe = read(TableRecipe, as_json(targets().tables.recipe(name)))
    records: dict[str, Record] = {}
    paths: dict[str, dict[str, tuple[str, ...]]] = {}
    for column in recipe.columns:
        for row in recipe.rows:
            score = value_of(recipe.paper, column, row)
            if column.model and score is not None:
                run = row.folds[0] if row.folds else row.dataset or ""
                path = RELATIVE.record(RunKey(row.key, column.key, run, "standard"), 1)
                metrics = {row.metric: score / 100}
                known = made_up.statement(column.model) if column.supplied else {}
                records[path] = made_up.record(column.model, run, 1, 0.5, metrics=metrics, recipe=known)
                paths.setdefault(column.key, {})[row.key] = (path,)
    differences = tuple(replace(one, minus={}) for one in recipe.differences)
    recipe = replace(recipe, records=paths, copied={}, differences=differences, others={})
    published = read_published(SPECS / f"tables/{name}.published.csv", recipe.left_out)
    return build(recipe, published, with_records(recipe, record_frame(records.items())))


@pytest.mark.parametrize("name", TABLES)
def test_fed_with_the_papers_numbers_each_composite_is_the_printed_one(name: str) -> None:
    table = fed(name)
    for column in table.columns:
        for row in table.composites:
            cell = table.cells[column.key][row.key]
            if cell.published is None or cell.value is None:
                continue
            if (name, column.key, row.key) in CONTRADICTIONS:
                expected = CONTRADICTIONS[name, column.key, row.key]
                assert (cell.published.value, round(cell.value, 3)) == expected
                continue
            decimals = len(cell.published.printed.partition(".")[2])
            assert abs(cell.value - cell.published.value) <= 1.01 * 10.0**-decimals, (column.key, row.key)
            assert cell.published.recomputed is None


def test_most_composites_are_computed() -> None:
    """So that the test above is of something."""
    cells = [
        table.cells[c.key][r.key]
        for table in map(fed, TABLES)
        for c in table.columns
        for r in table.composites
    ]
    assert sum(cell.value is not None and cell.published is not None for cell in cells) > 100


@pytest.mark.parametrize("name", TABLES)
def test_every_published_value_has_its_cell(name: str) -> None:
    """`build` refuses a table that loses one; here none is shown twice either."""
    spec, table = specs().tables[name], fed(name)
    values = read_published(SPECS / f"tables/{name}.published.csv", spec.left_out)["value"].dropna()
    shown = [cell.published for _, _, cell in table.read() if cell.published]
    assert len(shown) == len(values)


def test_models_of_notes_that_must_be_applied_for_leave_their_columns_empty() -> None:
    made = targets("bio-lm-base", "bio-lm-base@pm", "bio-lm-large")
    missing = made.tables.recipe("lewis2020/table03").missing
    assert "MIMIC-III, which must be applied for" in missing["bio-lm-base"]
    assert "bio-lm-base@pm" not in missing and "bio-lm-base" not in made.scope.models()
    assert any("bio-lm-large (is pretrained here on MIMIC-III" in line for line in made.left_out())
    assert "bio-lm-base" in targets().scope.models(), "its weights were released"

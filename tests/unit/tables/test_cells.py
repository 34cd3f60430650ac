"""Cells: when a mean is there, and what is said when it is not."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas import DataFrame

from pubmill.recipes.tables import Aggregate
from pubmill.report.rendering import collapse, number
from pubmill.tables.aggregation import cells_of_runs
from pubmill.tables.cells import NO_RECORD, Cell, PublishedValue, printed_notes
from tests.unit import toy_tables

KEY = ("bert", "bc2gm")


def runs(*values: float | str, fold: str = "") -> DataFrame:
    """The runs of one cell: each has a score, or the reason why it has none."""
    lines = [
        {"score": math.nan, "failed": value} if isinstance(value, str) else {"score": value}
        for value in values
    ]
    made = DataFrame(lines, columns=["score", "failed"]).astype({"score": "float64", "failed": "str"})
    seeds = range(1, len(values) + 1)
    made = made.assign(column=KEY[0], row=KEY[1], seed=seeds, fold=fold, path="", seconds=1.0)
    return made.assign(collapsed=False, asked=None)


def published(printed: str) -> PublishedValue:
    return PublishedValue(value=float(printed), printed=printed, note="")


def cell(found: DataFrame, value: PublishedValue | None = None, aggregate: Aggregate = "mean") -> Cell:
    return cells_of_runs(found, aggregate, {KEY: value} if value else {})[KEY]


def test_mean_spread_and_difference_of_a_complete_cell() -> None:
    made = cell(runs(90.0, 92.0), published("90.5"))
    assert (made.value, made.n, made.expected, made.missing, made.difference) == (91.0, 2, 2, None, 0.5)
    assert made.spread == pytest.approx(math.sqrt(2))
    one = cell(runs(90.0))
    assert (one.value, one.spread, one.difference) == (90.0, None, None)


@pytest.mark.parametrize(("aggregate", "value", "without"), [("mean", 80.0, 253 / 3), ("median", 83.5, 84.0)])
def test_a_collapsed_run_counts_and_the_cell_says_what_it_is_without_it(
    aggregate: Aggregate, value: float, without: float
) -> None:
    found = runs(67.0, 84.0, 86.0, 83.0).assign(collapsed=[True, False, False, False])
    made = cell(found, published("85.0"), aggregate)
    assert (made.value, made.n, made.expected, made.collapsed) == (value, 4, 4, 1)
    assert made.without_collapsed == pytest.approx(without)
    assert made.difference == value - 85.0 and made.spread is not None
    assert [seed.collapsed for seed in made.seeds] == [True, False, False, False]
    written = made.model_dump(mode="json")
    assert [seed.get("collapsed") for seed in written["seeds"]] == [True, None, None, None]
    assert collapse(made) == f"1 of 4 collapsed; {number(without)} without"
    every = cell(runs(67.0, 67.0).assign(collapsed=True))
    assert (every.value, every.without_collapsed, collapse(every)) == (67.0, None, "2 of 2 collapsed")


def test_a_median_is_not_moved_by_one_run_and_says_so_where_it_is_missing() -> None:
    made = cell(runs(90.0, 10.0, 91.0), published("89.0"), "median")
    assert (made.value, made.difference) == (90.0, 1.0)
    assert cell(runs(90.0, 80.0), aggregate="median").value == 85.0
    assert cell(runs(90.0, "nan"), aggregate="median").missing == (
        "no median: 1 of 2 seeds (failed, nan: seed 2)"
    )


@pytest.mark.parametrize(("failures", "message"), [
    (["nan"], "no mean: 1 of 2 seeds (failed, nan: seed 2)"),
    ([NO_RECORD], "no mean: 1 of 2 seeds (no record: seed 2)"),
    (["nan", NO_RECORD, "nan"], "no mean: 1 of 4 seeds (failed, nan: seed 2, 4; no record: seed 3)"),
])  # fmt: skip
def test_missing_and_failed_seeds_leave_no_mean(failures: list[str], message: str) -> None:
    made = cell(runs(90.0, *failures), published("90.5"))
    assert (made.value, made.spread, made.difference) == (None, None, None)
    assert (made.n, made.missing, len(made.seeds)) == (1, message, 1 + len(failures))
    assert "seed gad@fold-2 2" in str(cell(runs(90.0, *failures, fold="gad@fold-2")).missing)


SCORE = st.one_of(st.floats(0, 100), st.sampled_from(["nan", "constant predictions"]))


@settings(max_examples=25)
@given(st.lists(SCORE, min_size=1, max_size=6))
def test_a_cell_has_a_mean_or_a_reason_and_never_both(values: list[float | str]) -> None:
    made = cell(runs(*values))
    assert (made.value is None) == bool(made.missing)
    assert (made.value is not None) == (not any(isinstance(value, str) for value in values))
    assert [seed.value for seed in made.seeds] == [None if isinstance(v, str) else v for v in values]


def test_a_note_names_its_cells_whole_columns_or_all(tmp_path: Path) -> None:
    """Remarks on typography are left out."""
    columns = [toy_tables.column(name, name.upper()) for name in ("a", "b")]
    made = toy_tables.recipe(columns=columns, records={}, composites=[])

    def notes(*of_cells: str) -> tuple[str, ...]:
        places = [f"{c},{d},{m}" for c in "ab" for d, m in (("bc2gm", "entity_f1"), ("gad", "micro_f1"))]
        lines = [f"{place},80,{note}" for place, note in zip(places, of_cells, strict=True)]
        table = toy_tables.table(tmp_path, made, toy_tables.HEADER + "\n".join(lines) + "\n")
        return tuple(note.text for note in printed_notes(table))

    assert notes("x", "x", "x", "x") == ("All published values: x",)
    assert notes("x", "x", "", "bold") == ("A: x",)
    assert notes("x", "x; y", "y", "y; bold") == ("A: x", "B; A, GAD: y")
    assert notes("", "", "x", "") == ("B, BC2GM: x",)
    assert notes("bold", "underlined", "our best", "") == ()


def test_the_best_columns_print_the_highest_value_and_compete_only_with_each_other(tmp_path: Path) -> None:
    toy_tables.write_all(tmp_path)
    table = toy_tables.table(tmp_path)
    row = table.rows[0]
    assert table.best_columns(row, ["bert", "ours"]) == {"ours"}
    assert table.best_columns(row, ["bert"]) == table.best_columns(row, []) == set()
    assert table.best_columns(table.rows[1], ["bert", "ours"]) == set(), "no value"
    assert table.best_columns(replace(row, metric="difference"), ["bert", "ours"]) == set()
    cell = table.cells["ours"]["bc2gm"]
    near = {**table.cells, "bert": {"bc2gm": cell.model_copy(update={"value": (cell.value or 0) - 0.004})}}
    close = replace(table, cells=near)
    assert close.best_columns(row, ["bert", "ours"]) == {"bert", "ours"}

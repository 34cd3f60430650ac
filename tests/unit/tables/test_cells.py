"""Cells: when a mean is there, and what is said when it is not."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.errors import PubmillError
from pubmill.tables.aggregation import best_cell
from pubmill.tables.cells import (
    NO_RECORD,
    Column,
    PublishedValue,
    SeedScore,
    TableRecipe,
    cell_of_seeds,
    parse,
    parse_argument,
)


def seeds(*values: float | str) -> list[SeedScore]:
    return [
        SeedScore(seed=i, value=None, failed=v)
        if isinstance(v, str)
        else SeedScore(seed=i, value=v, failed=None)
        for i, v in enumerate(values, 1)
    ]


def test_mean_spread_and_difference_of_a_complete_cell() -> None:
    cell = cell_of_seeds(seeds(90.0, 92.0), 2, "", PublishedValue(value=90.5, printed="90.5", note=""))
    assert (cell.value, cell.n, cell.expected, cell.missing, cell.difference) == (91.0, 2, 2, None, 0.5)
    assert cell.spread == pytest.approx(math.sqrt(2))


def test_a_median_is_not_moved_by_one_run_and_says_so_where_it_is_missing() -> None:
    cell = cell_of_seeds(
        seeds(90.0, 10.0, 91.0), 3, "", PublishedValue(value=89.0, printed="89.0", note=""), "median"
    )
    assert (cell.value, cell.difference) == (90.0, 1.0)
    assert cell_of_seeds(seeds(90.0, 80.0), 2, "", None, "median").value == 85.0
    assert cell_of_seeds(seeds(90.0, "nan"), 2, "", None, "median").missing == (
        "no median: 1 of 2 seeds (failed, nan: seed 2)"
    )


def test_a_run_is_reported_with_its_fold() -> None:
    runs = [SeedScore(seed=1, value=None, failed="nan", fold="gad@fold-2"), *seeds(90.0)]
    assert [run.name for run in runs] == ["gad@fold-2 1", "1"]
    assert (
        cell_of_seeds(runs, 2, "", None).missing == "no mean: 1 of 2 seeds (failed, nan: seed gad@fold-2 1)"
    )


def test_one_seed_has_a_mean_but_no_spread() -> None:
    cell = cell_of_seeds(seeds(90.0), 1, "", None)
    assert (cell.value, cell.spread, cell.difference) == (90.0, None, None)


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        ("nan", "no mean: 1 of 2 seeds (failed, nan: seed 2)"),
        (NO_RECORD, "no mean: 1 of 2 seeds (no record: seed 2)"),
    ],
)
def test_a_missing_or_failed_seed_leaves_no_mean(failure: str, message: str) -> None:
    cell = cell_of_seeds(seeds(90.0, failure), 2, "", PublishedValue(value=90.5, printed="90.5", note=""))
    assert (cell.value, cell.spread, cell.difference) == (None, None, None)
    assert (cell.n, cell.missing, len(cell.seeds)) == (1, message, 2)


def test_nothing_expected_tells_the_given_reason() -> None:
    assert cell_of_seeds([], 0, "needs a licence", None).missing == "needs a licence"


@given(st.lists(st.one_of(st.floats(0, 100), st.sampled_from(["nan", "constant predictions"])), max_size=12))
def test_a_cell_has_a_mean_or_a_reason_and_never_both(values: list[float | str]) -> None:
    cell = cell_of_seeds(seeds(*values), len(values), "not run", None)
    assert (cell.value is None) == bool(cell.missing)
    assert (cell.value is not None) == (bool(values) and not any(isinstance(v, str) for v in values))


def test_wrong_json_names_the_key() -> None:
    with pytest.raises(PubmillError, match=r"somewhere is not a Column:\n  key: Field required\n  label"):
        parse(Column, {"model": "m"}, "somewhere")
    with pytest.raises(PubmillError, match="--recipe: not valid JSON"):
        parse_argument(TableRecipe, "{")


def test_the_best_of_several_cells_has_no_spread_and_no_seeds() -> None:
    found = [
        ("A", cell_of_seeds(seeds(90.0, 92.0), 2, "", None)),
        ("B", cell_of_seeds(seeds(80.0), 1, "", None)),
    ]
    cell = best_cell(found, PublishedValue(value=90.0, printed="90.0", note=""))
    assert (cell.value, cell.difference, cell.spread, cell.seeds) == (91.0, 1.0, None, ())
    assert (cell.n, cell.expected) == (2, 2)


@given(st.lists(st.none() | st.floats(0, 100), min_size=2, max_size=4))
def test_the_best_is_there_only_if_all_are_and_is_one_of_them(values: list[float | None]) -> None:
    found = [
        (
            f"column {i}",
            cell_of_seeds(seeds(*([] if v is None else [v])), int(v is not None), "not run", None),
        )
        for i, v in enumerate(values)
    ]
    cell = best_cell(found, None)
    if None in values:
        assert cell.value is None and cell.missing
        assert all((f"column {i}" in cell.missing) == (v is None) for i, v in enumerate(values))
    else:
        assert cell.value == sorted(v for v in values if v is not None)[-1]
        assert cell.missing is None

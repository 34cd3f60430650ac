"""Forest plots: differences, the intervals behind the verdicts, margins."""

from dataclasses import replace
from pathlib import Path

import pytest

from pubmill.publication.forest_plots import LABEL, forests
from pubmill.statistics.equivalence import difference_interval, equivalence_p, uncertainty
from pubmill.tables.cells import Table
from tests.unit import toy_tables as made_up


@pytest.fixture
def table(tmp_path: Path) -> Table:
    made_up.write_all(tmp_path)
    return made_up.table(tmp_path)


@pytest.mark.parametrize("difference", [0.0, 0.4, 0.62, 0.64, -0.62, -0.64, 3.0])
def test_the_interval_lies_within_the_margins_exactly_if_the_tests_reject(difference: float) -> None:
    of = uncertainty(0.25, 5, 5, "mean")
    low, high = difference_interval(difference, of, 0.05)
    inside = low > -1 and high < 1
    assert inside == (equivalence_p(difference, of, 1.0) <= 0.05)


def test_a_row_has_its_margin_and_a_lane_for_each_difference(table: Table) -> None:
    [found] = [one for one in forests(table) if one.label == "BC2GM"]
    cell = table.cells["bert"]["bc2gm"]
    margin = table.equivalence.margins["bc2gm"].points
    assert found.band == (found.axis.at(-margin), found.axis.at(margin))
    [lane] = found.lanes
    assert lane.x == found.axis.at(cell.difference or 0)
    assert found.description == "BERT: +0.10, not comparable."
    assert lane.arm and found.axis.at(0) == found.zero


def test_a_single_run_has_no_interval_and_long_labels_are_cut(table: Table) -> None:
    cells = {column: dict(of_column) for column, of_column in table.cells.items()}
    cells["bert"]["bc2gm"] = cells["bert"]["bc2gm"].model_copy(update={"spread": None})
    columns = tuple(replace(column, label="x" * 40) for column in table.columns)
    [lane] = forests(replace(table, cells=cells, columns=columns))[0].lanes
    assert lane.arm is None and len(lane.cut_label) == LABEL and lane.cut_label.endswith("…")


def test_a_table_without_published_values_has_none(tmp_path: Path, table: Table) -> None:
    cells = {
        column: {row: cell.model_copy(update={"difference": None}) for row, cell in of_column.items()}
        for column, of_column in table.cells.items()
    }
    assert forests(replace(table, cells=cells)) == []

"""Forest plots: differences, the intervals behind the verdicts, margins."""

import re
from dataclasses import replace

import pytest

from pubmill.report.forest_plots import LABEL, forests
from pubmill.statistics.equivalence import difference_interval, equivalence_p, uncertainty
from pubmill.tables.cells import Table


@pytest.mark.parametrize("difference", [0.0, 0.62, 0.64, -0.62, -0.64])
def test_the_interval_lies_within_the_margins_exactly_if_the_tests_reject(difference: float) -> None:
    of = uncertainty(0.25, 5, 5, "mean")
    low, high = difference_interval(difference, of, 0.05)
    assert (low > -1 and high < 1) == (equivalence_p(difference, of, 1.0) <= 0.05)


def test_a_row_has_its_margin_and_a_lane_for_each_difference(table: Table) -> None:
    [found] = [one for one in forests(table) if one.label == "BC2GM"]
    cell = table.cells["bert"]["bc2gm"]
    margin = table.equivalence.margins["bc2gm"].points
    assert found.band == f"M{found.axis.at(-margin)} 2H{found.axis.at(margin)}V24H{found.axis.at(-margin)}z"
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


def test_rows_have_one_axis_with_room_for_intervals_and_margins(table: Table) -> None:
    """Of four models, the description has only the number and the ends."""
    cell, row = table.cells["bert"]["bc2gm"], next(row for row in table.rows if row.key == "bc2gm")
    columns = tuple(replace(table.columns[0], key=f"m{n}", label=f"M{n}") for n in range(4))
    cells = {
        f"m{n}": {**table.cells["bert"], "bc2gm": cell.model_copy(update={"difference": 5.0 * n - 6})}
        for n in range(4)
    }
    [found] = forests(replace(table, rows=(row,), composites=(), columns=columns, cells=cells))
    of = uncertainty(cell.spread or 0, cell.n, table.equivalence.runs["bc2gm"], table.aggregate)
    (low, _), (_, high) = (difference_interval(end, of, table.equivalence.alpha) for end in (-6.0, 9.0))
    room = 0.04 * (high - low)
    assert (found.axis.low, found.axis.high) == pytest.approx((low - room, high + room))
    assert (found.axis.start, found.axis.end, found.height) == (132, 326, 4 + 4 * 18 + 22)
    assert [lane.y for lane in found.lanes] == [13, 31, 49, 67]
    for lane, value in zip(found.lanes, (-6.0, -1.0, 4.0, 9.0), strict=True):
        end = difference_interval(value, of, table.equivalence.alpha)[1]
        assert lane.arm == pytest.approx(found.axis.at(end) - found.axis.at(value), abs=0.051)
    assert found.description == "4 differences: 4 not comparable. From M0, \N{MINUS SIGN}6.00 to M3, +9.00."
    margin = replace(table.equivalence.margins["bc2gm"], points=99)
    wide = table.equivalence.margins | {"bc2gm": margin}
    made = replace(table, equivalence=replace(table.equivalence, margins=wide))
    assert [(one.axis.low, one.axis.high) for one in forests(made)] == [(-99 - 7.92, 99 + 7.92)]


def test_one_model_has_one_plot_with_a_lane_and_the_margin_of_each_row(table: Table) -> None:
    cell = table.cells["bert"]["bc2gm"]
    of_model = {"bc2gm": cell, "gad": cell.model_copy(update={"difference": -0.5}), "blurb": cell}
    margins = table.equivalence.margins | {"gad": replace(table.equivalence.margins["gad"], points=3)}
    equivalence = replace(table.equivalence, margins=margins)
    [found] = forests(replace(table, cells={**table.cells, "bert": of_model}, equivalence=equivalence))
    assert (found.label, [lane.label for lane in found.lanes]) == ("BERT", ["BC2GM", "GAD", "BLURB"])
    assert found.description.startswith("BC2GM: +0.10, not comparable. GAD: \N{MINUS SIGN}0.50, not comp")
    narrow, wide, _ = re.findall(r"M([\d.]+) (\d+)H([\d.]+)V(\d+)", found.band)
    assert (narrow[1], narrow[3], wide[1], wide[3]) == ("4", "22", "22", "40")
    assert float(wide[0]) == found.axis.at(-3) < float(narrow[0]) == found.axis.at(-1)

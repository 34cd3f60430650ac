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


def test_a_single_run_has_no_interval_and_long_labels_are_cut(table: Table) -> None:
    cells = {column: dict(of_column) for column, of_column in table.cells.items()}
    cells["bert"]["bc2gm"] = cells["bert"]["bc2gm"].model_copy(update={"spread": None})
    columns = tuple(replace(column, label="x" * 40) for column in table.columns)
    [lane] = forests(replace(table, cells=cells, columns=columns))[0].lanes
    assert lane.arm is None and len(lane.cut_label) == LABEL and lane.cut_label.endswith("…")


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

"""Figures of scores split by what items share with training."""

from pathlib import Path

from pubmill.metrics.training_overlap import Counts
from pubmill.recipes.tables import Heading, values_of
from pubmill.report.overlap_figures import recall_strips
from pubmill.tables.overlap_tables import CellParts, OverlapTable, PartScores
from tests.unit import toy_tables as made_up


def cell(column: str, by: str, *parts: tuple[str, Counts]) -> CellParts:
    scores = tuple(PartScores(part=part, **counts._asdict()) for part, counts in parts)
    return CellParts(row="bc2gm", column=column, by=by, runs=2, parts=scores)


def test_a_part_has_a_lane_with_a_point_for_each_model(tmp_path: Path) -> None:
    """Documents are not drawn, and neither is a part without gold items."""
    new, seen, none = ("new", Counts(30, 20, 15)), ("verbatim", Counts(10, 10, 9)), ("case", Counts(0, 1, 0))
    worse = ("new", Counts(30, 20, 6))
    found = OverlapTable(
        **values_of(Heading, made_up.table(tmp_path)),
        training=("train",),
        row_labels={"bc2gm": "BC2GM"},
        column_labels={"bert": "BERT", "ours": "Ours"},
        cells=(
            cell("bert", "mentions", seen, none, new),
            cell("bert", "documents", ("known", Counts(40, 30, 24))),
            cell("ours", "mentions", seen, none, worse),
        ),
    )
    [strip] = recall_strips(found)
    assert strip.label == "BC2GM" and (strip.axis.low, strip.axis.high) == (0, 100)
    assert (strip.axis.start, strip.axis.end, strip.height) == (14, 326, 8 + 2 * 40 + 26)
    assert [(lane.label, lane.y, lane.aside) for lane in strip.lanes] == [
        ("verbatim", 34, "25% of gold"), ("new", 74, "75% of gold"),
    ]  # fmt: skip
    assert strip.lanes[1].points == ((170.0, "BERT: 50.0%"), (76.4, "Ours: 20.0%"))
    assert strip.description == "verbatim: BERT: 90.0%, Ours: 90.0%. new: BERT: 50.0%, Ours: 20.0%."

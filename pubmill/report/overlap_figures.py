"""Figures of scores split by what items share with training."""

from pubmill.report.figures import EDGE, WIDTH, Axis, Lane, Strip, lane_y, strip
from pubmill.tables.overlap_tables import BY, CellParts, OverlapTable

DRAWN = ("mentions", "arguments")
"""What figures show."""


def recall_strips(table: OverlapTable) -> list[Strip]:
    """Return a figure for each dataset: the recall of each part, a point for each model."""
    return [_strip(table, group) for group in table.groups if group[0].by in DRAWN]


def _strip(table: OverlapTable, group: list[CellParts]) -> Strip:
    axis = Axis(0, 100, EDGE, WIDTH - EDGE)
    first = group[0]
    lanes: list[Lane] = []
    for part in (one for one in first.parts if one.gold):
        points = [
            (axis.at(100 * of.counts.recall), f"{table.column_labels[one.column]}: {of.counts.recall:.1%}")
            for one in group
            for of in one.parts
            if of.part == part.part
        ]
        aside = f"{first.share(part):.0%} of gold"
        lanes.append(Lane(part.part, lane_y(len(lanes)), tuple(points), aside=aside))
    description = " ".join(f"{one.label}: {', '.join(text for _, text in one.points)}." for one in lanes)
    return strip(table.row_labels[first.row], f"recall, {BY[first.by]}", description, axis, lanes)

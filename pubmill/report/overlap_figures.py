"""Figures of scores split by what items share with training."""

from pubmill.report.figures import EDGE, LANE, TOP, WIDTH, Axis, Lane, Strip
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
        lanes.append(
            Lane(
                label=part.part,
                y=TOP + LANE * len(lanes) + 26,
                points=tuple(points),
                together=None,
                published=None,
                note="",
                aside=f"{first.share(part):.0%} of gold",
            )
        )
    return Strip(
        label=table.row_labels[first.row],
        metric=f"recall, {BY[first.by]}",
        description=" ".join(
            f"{lane.label}: {', '.join(text for _, text in lane.points)}." for lane in lanes
        ),
        height=TOP + LANE * len(lanes) + 26,
        axis=axis,
        lanes=tuple(lanes),
    )

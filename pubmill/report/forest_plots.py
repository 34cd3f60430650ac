"""Forest plots of the report: ours minus published, with interval and margin; lengths are as in `figures`."""

from collections import Counter
from dataclasses import dataclass
from itertools import groupby

from pubmill.recipes.tables import Column, Row
from pubmill.report.figures import EDGE, WIDTH, Axis
from pubmill.report.rendering import VERDICTS, metric, signed
from pubmill.statistics.equivalence import difference_interval, uncertainty
from pubmill.tables.cells import Cell, Table

LEFT = 132
"""Width of the labels."""
LABEL = 22
"""Most characters of a label; longer ones are cut."""
SPELLED = 3
"""Most differences that a description has one by one."""
LANE = 18
TOP, BOTTOM = 4, 22


@dataclass(frozen=True)
class ForestLane:
    """The difference of a model, or in a row, at `x`; `arm`: half the length of its interval, if known."""

    label: str
    cut_label: str
    y: float
    x: float
    arm: float | None
    verdict: str


@dataclass(frozen=True)
class Forest:
    """The differences in one row of a table, or of its only model in all rows; `band`: the path of the area
    within the margins."""

    label: str
    metric: str
    description: str
    height: int
    axis: Axis
    zero: float
    band: str
    lanes: tuple[ForestLane, ...]


@dataclass(frozen=True)
class _Difference:
    column: Column
    row: Row
    cell: Cell
    value: float
    interval: tuple[float, float] | None

    @property
    def verdict(self) -> str:
        return VERDICTS[self.cell.verdict.verdict][0] if self.cell.verdict else "no verdict"


def forests(table: Table) -> list[Forest]:
    """Return a forest plot for each shown row with a difference, with the same axis for all of a table; if
    the differences are all of one model, there is one plot with a lane for each row."""
    shown = [
        _Difference(column, row, cell, cell.difference, _interval(table, row, cell))
        for row in table.shown_rows
        for column in table.columns
        if (cell := table.cells[column.key][row.key]).difference is not None
    ]
    if not shown:
        return []
    ends = [end for one in shown for end in (one.value, *(one.interval or ()))]
    margin = max(table.equivalence.margins[one.row.key].points for one in shown)
    low, high = min(*ends, -margin), max(*ends, margin)
    room = 0.04 * (high - low)
    axis = Axis(low - room, high + room, LEFT, WIDTH - EDGE)

    def band(row: Row, top: int, bottom: int) -> str:
        """Return the path of the area within the margin of a row."""
        points = table.equivalence.margins[row.key].points
        left, right = axis.at(-points), axis.at(points)
        return f"M{left} {top}H{right}V{bottom}H{left}z"

    by_row = {row: list(of_row) for row, of_row in groupby(shown, key=lambda one: one.row)}
    if len({one.column for one in shown}) == 1 and len(by_row) > 1:
        tops = range(TOP, TOP + LANE * len(shown), LANE)
        bands = "".join(band(one.row, top, top + LANE) for top, one in zip(tops, shown, strict=True))
        named = [(one.row.label, one) for one in shown]
        return [_forest(shown[0].column.label, "all rows", named, axis, bands)]
    made = []
    for row, of_row in by_row.items():
        named = [(one.column.label, one) for one in of_row]
        of_margin = band(row, 2, TOP + LANE * len(of_row) + 2)
        made.append(_forest(row.label, metric(row.metric), named, axis, of_margin))
    return made


def _interval(table: Table, row: Row, cell: Cell) -> tuple[float, float] | None:
    """Return the interval that decides the verdict of a cell; composites and single runs have none."""
    if not cell.spread or cell.difference is None or row.dataset is None:
        return None
    of = uncertainty(cell.spread, cell.n, table.equivalence.runs[row.key], table.aggregate)
    return difference_interval(cell.difference, of, table.equivalence.alpha)


def _forest(label: str, subtitle: str, named: list[tuple[str, _Difference]], axis: Axis, band: str) -> Forest:
    """Return a figure of labelled differences. Its description has up to `SPELLED` of them one by one, of
    more the number of each verdict, the lowest and the highest."""
    lanes = list[ForestLane]()
    for name, one in named:
        x, y = axis.at(one.value), TOP + LANE * (len(lanes) + 0.5)
        cut_label = name if len(name) <= LABEL else f"{name[: LABEL - 1]}…"
        arm = round(axis.at(one.interval[1]) - x, 1) if one.interval else None
        lanes.append(ForestLane(name, cut_label, y, x, arm, one.verdict))
    if len(named) <= SPELLED:
        text = " ".join(f"{name}: {signed(one.value)}, {one.verdict}." for name, one in named)
    else:
        lowest, highest = (end(named, key=lambda pair: pair[1].value) for end in (min, max))
        ends = (f"{name}, {signed(one.value)}" for name, one in (lowest, highest))
        counts = Counter(one.verdict for _, one in named).items()
        of_verdicts = ", ".join(f"{number} {verdict}" for verdict, number in counts)
        text = f"{len(named)} differences: {of_verdicts}. From {' to '.join(ends)}."
    height = TOP + LANE * len(named) + BOTTOM
    return Forest(label, subtitle, text, height, axis, axis.at(0), band, tuple(lanes))

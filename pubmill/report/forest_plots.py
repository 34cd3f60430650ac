"""Forest plots of the report: ours minus published, with interval and margin; lengths are as in `figures`."""

from collections import Counter
from dataclasses import dataclass

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


def forests(table: Table) -> list[Forest]:
    """Return a forest plot for each shown row with a difference, with the same axis for all of a table; if
    the differences are all of one model, there is one plot with a lane for each row."""
    rows = [(row, made) for row in table.shown_rows if (made := _differences(table, row))]
    if not rows:
        return []
    shown = [one for _, differences in rows for one in differences]
    ends = [end for one in shown for end in (one.value, *(one.interval or ()))]
    margins = [table.equivalence.margins[row.key].points for row, _ in rows]
    low, high = min(*ends, -max(margins)), max(*ends, max(margins))
    room = 0.04 * (high - low)
    axis = Axis(low - room, high + room, LEFT, WIDTH - EDGE)
    columns = {one.column for one in shown}
    if len(columns) == 1 and len(rows) > 1:
        return [_of_model(table, columns.pop(), shown, axis)]
    return [_of_row(table, row, differences, axis) for row, differences in rows]


def _differences(table: Table, row: Row) -> list[_Difference]:
    cells = [(column, table.cells[column.key][row.key]) for column in table.columns]
    return [
        _Difference(column, row, cell, cell.difference, _interval(table, row, cell))
        for column, cell in cells
        if cell.difference is not None
    ]


def _interval(table: Table, row: Row, cell: Cell) -> tuple[float, float] | None:
    """Return the interval that decides the verdict of a cell; composites and single runs have none."""
    if not cell.spread or cell.difference is None or row.dataset is None:
        return None
    of = uncertainty(cell.spread, cell.n, table.equivalence.runs[row.key], table.aggregate)
    return difference_interval(cell.difference, of, table.equivalence.alpha)


def _of_row(table: Table, row: Row, differences: list[_Difference], axis: Axis) -> Forest:
    labels = [one.column.label for one in differences]
    band = _band(table, row, axis, 2, TOP + LANE * len(labels) + 2)
    return _forest(row.label, metric(row.metric), labels, differences, axis, band)


def _of_model(table: Table, column: Column, differences: list[_Difference], axis: Axis) -> Forest:
    labels = [one.row.label for one in differences]
    tops = range(TOP, TOP + LANE * len(labels), LANE)
    bands = [_band(table, one.row, axis, top, top + LANE) for top, one in zip(tops, differences, strict=True)]
    return _forest(column.label, "all rows", labels, differences, axis, "".join(bands))


def _band(table: Table, row: Row, axis: Axis, top: int, bottom: int) -> str:
    """Return the path of the area within the margin of a row."""
    margin = table.equivalence.margins[row.key].points
    left, right = axis.at(-margin), axis.at(margin)
    return f"M{left} {top}H{right}V{bottom}H{left}z"


def _forest(
    label: str, subtitle: str, labels: list[str], differences: list[_Difference], axis: Axis, band: str
) -> Forest:
    named = list(zip(labels, differences, strict=True))
    lanes = tuple(_lane(name, one, axis, TOP + LANE * (i + 0.5)) for i, (name, one) in enumerate(named))
    height = TOP + LANE * len(named) + BOTTOM
    return Forest(label, subtitle, _text(named), height, axis, axis.at(0), band, lanes)


def _lane(label: str, one: _Difference, axis: Axis, y: float) -> ForestLane:
    x = axis.at(one.value)
    cut_label = label if len(label) <= LABEL else f"{label[: LABEL - 1]}…"
    arm = round(axis.at(one.interval[1]) - x, 1) if one.interval else None
    return ForestLane(label, cut_label, y, x, arm, _verdict(one.cell))


def _verdict(cell: Cell) -> str:
    return VERDICTS[cell.verdict.verdict][0] if cell.verdict else "no verdict"


def _text(named: list[tuple[str, _Difference]]) -> str:
    """Describe up to `SPELLED` differences one by one, more by verdict counts, the lowest and the highest."""
    if len(named) <= SPELLED:
        return " ".join(f"{name}: {signed(one.value)}, {_verdict(one.cell)}." for name, one in named)
    lowest, highest = (end(named, key=lambda pair: pair[1].value) for end in (min, max))
    verdicts = Counter(_verdict(one.cell) for _, one in named)
    ends = (f"{name}, {signed(one.value)}" for name, one in (lowest, highest))
    counts = ", ".join(f"{number} {verdict}" for verdict, number in verdicts.items())
    return f"{len(named)} differences: {counts}. From {' to '.join(ends)}."

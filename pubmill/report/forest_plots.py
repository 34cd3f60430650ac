"""Forest plots of the report: ours minus published, with interval and margin, as coordinates.

`templates/_figures.html.j2` draws them; lengths are as in `figures`.
"""

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
    """The difference of one model: `x` its position, `arm` half the length of its interval, if known."""

    label: str
    cut_label: str
    y: float
    x: float
    arm: float | None
    verdict: str


@dataclass(frozen=True)
class Forest:
    """The differences in one row of a table; `band`: positions of minus and plus the margin."""

    label: str
    metric: str
    description: str
    height: int
    axis: Axis
    zero: float
    band: tuple[float, float]
    lanes: tuple[ForestLane, ...]


@dataclass(frozen=True)
class _Difference:
    column: Column
    cell: Cell
    value: float
    interval: tuple[float, float] | None

    @property
    def ends(self) -> tuple[float, ...]:
        return (self.value, *(self.interval or ()))


def forests(table: Table) -> list[Forest]:
    """Return a forest plot for each shown row with a difference; all of a table have the same axis."""
    found = [(row, made) for row in table.shown_rows if (made := _differences(table, row))]
    if not found:
        return []
    ends = [end for _, differences in found for one in differences for end in one.ends]
    margins = [table.equivalence.margins[row.key].points for row, _ in found]
    low, high = min(*ends, -max(margins)), max(*ends, max(margins))
    room = 0.04 * (high - low)
    axis = Axis(low - room, high + room, LEFT, WIDTH - EDGE)
    return [_forest(table, row, differences, axis) for row, differences in found]


def _differences(table: Table, row: Row) -> list[_Difference]:
    cells = [(column, table.cells[column.key][row.key]) for column in table.columns]
    return [
        _Difference(column, cell, cell.difference, _interval(table, row, cell))
        for column, cell in cells
        if cell.difference is not None
    ]


def _interval(table: Table, row: Row, cell: Cell) -> tuple[float, float] | None:
    """Return the interval that decides the verdict of a cell; composites and single runs have none."""
    if not cell.spread or cell.difference is None or row.dataset is None:
        return None
    runs = table.equivalence.runs[row.key]
    of = uncertainty(cell.spread, cell.n, runs, table.aggregate)
    return difference_interval(cell.difference, of, table.equivalence.alpha)


def _forest(table: Table, row: Row, differences: list[_Difference], axis: Axis) -> Forest:
    margin = table.equivalence.margins[row.key].points
    return Forest(
        label=row.label,
        metric=metric(row.metric),
        description=_text(differences),
        height=TOP + LANE * len(differences) + BOTTOM,
        axis=axis,
        zero=axis.at(0),
        band=(axis.at(-margin), axis.at(margin)),
        lanes=tuple(_lane(one, axis, TOP + LANE * (i + 0.5)) for i, one in enumerate(differences)),
    )


def _lane(one: _Difference, axis: Axis, y: float) -> ForestLane:
    label = one.column.label
    x = axis.at(one.value)
    return ForestLane(
        label=label,
        cut_label=label if len(label) <= LABEL else f"{label[: LABEL - 1]}…",
        y=y,
        x=x,
        arm=round(axis.at(one.interval[1]) - x, 1) if one.interval else None,
        verdict=_verdict(one.cell),
    )


def _verdict(cell: Cell) -> str:
    return VERDICTS[cell.verdict.verdict][0] if cell.verdict else "no verdict"


def _text(differences: list[_Difference]) -> str:
    """Describe the differences of a row; up to `SPELLED` one by one, more by their number and ends."""
    if len(differences) <= SPELLED:
        return " ".join(
            f"{one.column.label}: {signed(one.value)}, {_verdict(one.cell)}." for one in differences
        )
    lowest, highest = (end(differences, key=lambda one: one.value) for end in (min, max))
    verdicts = Counter(_verdict(one.cell) for one in differences)
    ends = (f"{one.column.label}, {signed(one.value)}" for one in (lowest, highest))
    counts = ", ".join(f"{number} {verdict}" for verdict, number in verdicts.items())
    return f"{len(differences)} models: {counts}. From {' to '.join(ends)}."

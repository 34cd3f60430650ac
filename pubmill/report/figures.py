"""Figures and charts of the report, as coordinates that `templates/_figures.html.j2` draws as small SVG.

Every figure has a description in words. Lengths are SVG user units, about one pixel on a phone.

Why not matplotlib: a strip of two models with two seeds is 1,277 bytes here and 6,847 bytes of its SVG
(13,528 with letters as paths; version 3.11.2), in a self-contained report that has one for each dataset of
each table. Readers would lose the description for screen readers, the name and score of each run at its
point, and colours that follow the page in dark mode, because matplotlib writes them into each element. Every
page would also import it.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pubmill.messages.stage_groups import GROUPS
from pubmill.report.rendering import metric, number, printed, quantity, run_score
from pubmill.tables.cells import Table
from pubmill.tables.table_frames import run_frame

WIDTH = 340
EDGE = 14
"""Margin beside an axis, wide enough for half of its last number."""
LANE = 40
TOP = 8
CURVE_HEIGHT = 220
MAX_POINTS = 300

Drawn = TypeVar("Drawn", bound=tuple[float, float])


@dataclass(frozen=True)
class Axis:
    """A linear scale from values to positions."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The position of a value."""
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self, about: int) -> list[tuple[float, float]]:
        """(position, value) at round steps of 1, 2 or 5 times a power of ten."""
        rough = (self.high - self.low) / about
        power = 10.0 ** math.floor(math.log10(rough))
        steps = [factor * power for factor in (1, 2, 5, 10)]
        chosen = next(i for i, step in enumerate(steps) if step >= rough * 0.999)
        # a step can be longer than a short axis, which then may contain none of its multiples
        values = self._multiples(steps[chosen]) or self._multiples(steps[chosen - 1])
        return [(self.at(value), value) for value in values]

    def _multiples(self, step: float) -> list[float]:
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(index * step, 10) for index in range(first, last + 1)]


def padded(values: Sequence[float], least: float, start: float, end: float) -> Axis:
    """Return an axis that goes on beyond the values, by 6 % of their range and at least by `least`."""
    margin = max(0.06 * (max(values) - min(values)), least)
    return Axis(min(values) - margin, max(values) + margin, start, end)


def line_path(points: Iterable[tuple[float, float]]) -> str:
    """Return the SVG path through points."""
    return "M" + " L".join(f"{x:g} {y:g}" for x, y in points)


@dataclass(frozen=True)
class Lane:
    """One model in a strip: a point for each seed, their aggregate (`together`) and the published value;
    beside the label, a `note` on failed runs."""

    label: str
    y: float
    points: tuple[tuple[float, str], ...]
    together: float | None = None
    published: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Strip:
    """A figure with a lane of points per model: its scores by seed on one dataset."""

    label: str
    metric: str
    description: str
    height: int
    axis: Axis
    lanes: tuple[Lane, ...]


def strips(table: Table) -> list[Strip]:
    """Return one strip for each row in which any run has a score, with its lanes in words."""
    made = []
    for row in table.rows:
        cells = [(column, table.cells[column.key][row.key]) for column in table.columns]
        shown = [(column, cell) for column, cell in cells if cell.seeds]
        scores = [seed.value for _, cell in shown for seed in cell.seeds if seed.value is not None]
        if not scores:
            continue
        published = [cell.published.value for _, cell in shown if cell.published]
        axis = padded([*scores, *published], 0.25, EDGE, WIDTH - EDGE)
        lanes, texts = list[Lane](), list[str]()
        for column, cell in shown:
            runs = [(seed.value, f"seed {seed.name}", run_score(seed)) for seed in cell.seeds]
            points = [(value, f"{name}: {score}") for value, name, score in runs]
            failed = sum(bool(seed.failed) for seed in cell.seeds)
            lanes.append(
                Lane(
                    label=column.label,
                    y=TOP + LANE * len(lanes) + 26,
                    points=tuple((axis.at(value), text) for value, text in points if value is not None),
                    together=None if cell.value is None else axis.at(cell.value),
                    published=axis.at(cell.published.value) if cell.published else None,
                    note=f"{failed} of {cell.expected} seeds without a score" if failed else "",
                )
            )
            of_seeds = ", ".join(f"{name} {score}" for _, name, score in runs)
            ours = f"no {table.aggregate}"
            if cell.value is not None:
                ours = f"{table.aggregate} {number(cell.value)}"
            theirs = f"published {printed(cell.published.printed)}" if cell.published else None
            texts.append(f"{column.label}: {of_seeds}; {ours}; {theirs or 'no published value'}.")
        height = TOP + LANE * len(lanes) + 26
        made.append(Strip(row.label, metric(row.metric), " ".join(texts), height, axis, tuple(lanes)))
    return made


def thinned(points: Sequence[Drawn], most: int = MAX_POINTS) -> list[Drawn]:
    """Return at most this many of the points, evenly spaced, including the first and the last."""
    if len(points) <= most:
        return list(points)
    step = (len(points) - 1) / (most - 1)
    return [points[round(i * step)] for i in range(most)]


def times(table: Table) -> list[tuple[str, list[float]]]:
    """Return the label and the seconds of each run of a table's models that are fine-tuned here."""
    rows = {row.dataset: row.key for row in table.rows}  # rows with the same dataset share runs
    runs = run_frame(table).dropna(subset="seconds")
    by_column = runs[runs["row"].isin(rows.values())].groupby("column")["seconds"].agg(list)
    columns = (column for column in table.columns if not column.supplied and column.key in by_column)
    return [(column.label, by_column[column.key]) for column in columns]


BOX_WIDTH, BOX_HEIGHT = 100, 34
LAYER, BOX_COLUMN = 50, 118
"""Distance of boxes below and beside each other."""
BESIDE = {"convert": 1, "predictions": 2}
"""Stage -> its column, unless that is the first."""
BOX_MARGIN = 2


@dataclass(frozen=True)
class StageBox:
    """A stage with its count in words and its rules; `x`, `y`: its upper left corner."""

    stage: str
    counted: str
    rules: tuple[str, ...]
    x: int
    y: int


@dataclass(frozen=True)
class PipelineFigure:
    """Boxes and the paths of arrows between them."""

    height: int
    boxes: tuple[StageBox, ...]
    arrows: tuple[str, ...]
    description: str


def pipeline_figure(counts: Mapping[str, str], rules: Mapping[str, tuple[str, ...]]) -> PipelineFigure:
    """Return the figure of the groups of stages with a count; `counts`: group -> its count in words, or
    nothing; `rules`: group -> its rules."""
    shown = [stage for stage in GROUPS if counts.get(stage)]
    edges = {stage: drawn_sources(stage, shown) for stage in shown}
    boxes, sentences, layers = dict[str, StageBox](), list[str](), dict[str, int]()
    for stage in shown:  # in the order in which a run reaches them
        layers[stage] = max((layers[source] + 1 for source in edges[stage]), default=0)
        x, y = BOX_MARGIN + BOX_COLUMN * BESIDE.get(stage, 0), BOX_MARGIN + LAYER * layers[stage]
        boxes[stage] = StageBox(stage, counts[stage], rules.get(stage, ()), x, y)
        reads = f", reads {' and '.join(edges[stage])}" if edges[stage] else ""
        sentences.append(f"{stage}: {counts[stage]}{reads}.")
    return PipelineFigure(
        height=max((box.y for box in boxes.values()), default=0) + BOX_HEIGHT + BOX_MARGIN,
        boxes=tuple(boxes.values()),
        arrows=tuple(_arrow(boxes[one], boxes[stage]) for stage in shown for one in edges[stage]),
        description=" ".join(sentences),
    )


def drawn_sources(stage: str, shown: Collection[str]) -> list[str]:
    """Return the shown stages that a stage reads, directly or through stages that are not shown."""
    sources: dict[str, None] = {}
    for source in GROUPS.get(stage, ()):
        sources.update(dict.fromkeys([source] if source in shown else drawn_sources(source, shown)))
    return list(sources)


def _arrow(source: StageBox, target: StageBox) -> str:
    """Return the path from one box to another: down within a column, else around one corner."""
    x, middle = target.x + BOX_WIDTH // 2, target.y + BOX_HEIGHT // 2
    if source.x == target.x:
        return f"M{x} {source.y + BOX_HEIGHT}V{target.y}"
    if source.x < target.x:
        return f"M{source.x + BOX_WIDTH} {source.y + BOX_HEIGHT // 2}H{x}V{target.y}"
    return f"M{source.x + BOX_WIDTH // 2} {source.y + BOX_HEIGHT}V{middle}H{target.x + BOX_WIDTH}"


@dataclass(frozen=True)
class Chart:
    """A chart of loss by tokens: its line as an SVG path, the last value with its coordinates, and vertical
    lines (`marks`) with their texts."""

    label: str
    description: str
    x: Axis
    y: Axis
    path: str
    last: tuple[float, float, str]
    marks: tuple[tuple[float, str], ...] = ()


def curve(label: str, points: Sequence[tuple[int, float]], ends: Sequence[tuple[int, int]]) -> Chart | None:
    """Return a chart of two or more (tokens, loss) points; `ends`: (tokens, step) of checkpoints."""
    if len(points) < 2:
        return None
    points = thinned(points)
    losses = [loss for _, loss in points]
    x = Axis(0, max(tokens for tokens, _ in points), 38, WIDTH - 12)
    y = padded(losses, 0.05, CURVE_HEIGHT - 38, 12)
    tokens, loss = points[-1]
    path = line_path((x.at(t), y.at(v)) for t, v in points)
    return Chart(
        label=label,
        description=f"Training loss of {label}: {points[0][1]:.2f} at the first logged step, "
        f"{loss:.2f} at the last, after {quantity(tokens)} tokens; lowest {min(losses):.2f}.",
        x=x,
        y=y,
        path=path,
        last=(x.at(tokens), y.at(loss), f"{loss:.2f}"),
        marks=tuple((x.at(t), f"step {step:,}") for t, step in ends[:-1]),
    )

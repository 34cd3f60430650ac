"""Scatter and line charts of the report, as coordinates, with lengths as in `figures`, and the losses
and subwords by date of publication that some show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pubmill.report.figures import CURVE_HEIGHT, EDGE, WIDTH, Axis, line_path, padded
from pubmill.report.rendering import metric, number
from pubmill.tables.cells import Table
from pubmill.tables.table_frames import is_usual

LEFT, BOTTOM = 44, 38
TOP = 24
"""Top margin, which separates the title of the vertical axis from its highest number."""


@dataclass(frozen=True)
class Dot:
    """A point of a chart, with its description in words."""

    x: float
    y: float
    text: str


@dataclass(frozen=True)
class Series:
    """Dots with a common label; `path` connects them if they are ordered."""

    label: str
    dots: tuple[Dot, ...]
    path: str = ""


@dataclass(frozen=True)
class Chart:
    """A chart. `numbered`: dots have numbers that are explained below the chart."""

    label: str
    subtitle: str
    description: str
    x_title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    numbered: bool = False
    height: int = CURVE_HEIGHT


Point = tuple[float, float, str]
"""x, y, and a description of the point."""


def _series(label: str, points: Sequence[Point], x: Axis, y: Axis, joined: bool = False) -> Series:
    dots = tuple(Dot(x.at(a), y.at(b), text) for a, b, text in points)
    path = line_path((dot.x, dot.y) for dot in dots) if joined and len(dots) > 1 else ""
    return Series(label, dots, path)


def _chart_of(points: Sequence[Point], label: str, subtitle: str, x_title: str, least_x: float) -> Chart:
    """Return a chart of points; its description lists each of them. The axes extend beyond the values, the
    horizontal one by at least `least_x`."""
    x = padded([x for x, *_ in points], least_x, LEFT, WIDTH - EDGE)
    y = padded([y for _, y, _ in points], 0.25, CURVE_HEIGHT - BOTTOM, TOP)
    description = " ".join(f"{text}." for *_, text in points)
    return Chart(label, subtitle, description, x_title, x, y, (_series("", points, x, y),))


def learning(table: Table, steps: Mapping[str, tuple[str, int]]) -> list[Chart]:
    """Charts, one per row, of scores against pretraining steps, for recipes with several fine-tuned
    checkpoints. `steps`: model -> recipe and step."""
    charts = []
    for row in table.rows:
        by_recipe: dict[str, list[Point]] = {}
        for column in table.columns:
            cell = table.cells[column.key][row.key]
            model = column.model or ""
            if model in steps and cell.value is not None and is_usual(row, column, cell):
                recipe, step = steps[model]
                point = (step, cell.value, f"step {step:,}: {number(cell.value)}")
                by_recipe.setdefault(recipe, []).append(point)
        lines = {recipe: sorted(line) for recipe, line in by_recipe.items() if len({x for x, *_ in line}) > 1}
        if not lines:
            continue
        points = [point for line in lines.values() for point in line]
        texts = (f"{name}: {', '.join(text for *_, text in line)}." for name, line in lines.items())
        subtitle = f"{metric(row.metric)} against steps of pretraining"
        chart = _chart_of(points, row.label, subtitle, "steps", 1)
        series = (_series(name, line, chart.x, chart.y, joined=True) for name, line in lines.items())
        charts.append(replace(chart, description=" ".join(texts), series=tuple(series)))
    return charts


def fragmentation(table: Table, rates: Mapping[str, Mapping[str, float]]) -> list[Chart]:
    """Charts, one per row, of scores against pieces per word in mentions, for models with different
    vocabularies. `rates`: model -> dataset -> pieces per word."""
    charts = []
    for row in table.rows:
        points: list[Point] = []
        for column in table.columns:
            cell = table.cells[column.key][row.key]
            rate = rates.get(column.model or "", {}).get(row.dataset or "")
            if rate is not None and cell.value is not None and is_usual(row, column, cell):
                points.append((rate, cell.value, f"{column.label}: {rate:.2f} pieces, {number(cell.value)}"))
        if len({rate for rate, *_ in points}) > 1:
            subtitle = f"{metric(row.metric)} against pieces per word of mentions (test, else dev)"
            chart = _chart_of(points, row.label, subtitle, "pieces per word", 0.05)
            charts.append(replace(chart, numbered=True))
    return charts

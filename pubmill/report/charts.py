"""Scatter and line charts of the report, as coordinates, with lengths as in `figures`, and the losses
and subwords by date of publication that some show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pandas import DataFrame

from pubmill.recipes.tables import Row
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


def _axes(xs: Sequence[float], ys: Sequence[float], least_x: float, least_y: float) -> tuple[Axis, Axis]:
    """Return both axes, which extend beyond the values by at least `least_x` and `least_y`."""
    return padded(xs, least_x, LEFT, WIDTH - EDGE), padded(ys, least_y, CURVE_HEIGHT - BOTTOM, TOP)


def _series(label: str, points: Sequence[Point], x: Axis, y: Axis, joined: bool = False) -> Series:
    dots = tuple(Dot(x.at(a), y.at(b), text) for a, b, text in points)
    path = line_path((dot.x, dot.y) for dot in dots) if joined and len(dots) > 1 else ""
    return Series(label, dots, path)


def _chart_of(points: Sequence[Point], label: str, subtitle: str, x_title: str, *least: float) -> Chart:
    """Return a chart of points; its description lists each of them. `least`: see `_axes`."""
    x, y = _axes([x for x, *_ in points], [y for _, y, _ in points], *least)
    description = " ".join(f"{text}." for *_, text in points)
    return Chart(label, subtitle, description, x_title, x, y, (_series("", points, x, y),))


def learning(table: Table, steps: Mapping[str, tuple[str, int]]) -> list[Chart]:
    """Charts, one per row, of scores against pretraining steps, for recipes with several fine-tuned
    checkpoints. `steps`: model -> recipe and step."""
    return [chart for row in table.rows if (chart := _learning_chart(table, row, steps))]


def _learning_chart(table: Table, row: Row, steps: Mapping[str, tuple[str, int]]) -> Chart | None:
    cells = {column.key: table.cells[column.key][row.key] for column in table.columns}
    usual = [column for column in table.columns if is_usual(row, column, cells[column.key])]
    columns = [column for column in usual if column.model in steps]
    values = DataFrame(
        [(*steps[column.model or ""], cells[column.key].value) for column in columns],
        columns=["recipe", "step", "value"],
    ).dropna(subset="value")
    lines = {
        recipe: sorted(
            (one.step, one.value, f"step {one.step:,}: {number(one.value)}") for one in line.itertuples()
        )
        for recipe, line in values.groupby("recipe", sort=False)
        if line["step"].nunique() > 1
    }
    if not lines:
        return None
    points = [point for line in lines.values() for point in line]
    texts = (f"{name}: {', '.join(text for *_, text in line)}." for name, line in lines.items())
    chart = _chart_of(
        points, row.label, f"{metric(row.metric)} against steps of pretraining", "steps", 1, 0.25
    )
    series = (_series(name, line, chart.x, chart.y, joined=True) for name, line in lines.items())
    return replace(chart, description=" ".join(texts), series=tuple(series))


def fragmentation(table: Table, rates: Mapping[str, Mapping[str, float]]) -> list[Chart]:
    """Charts, one per row, of scores against pieces per word in mentions, for models with different
    vocabularies. `rates`: model -> dataset -> pieces per word."""
    return [chart for row in table.rows if (chart := _fragmentation_chart(table, row, rates))]


def _fragmentation_chart(table: Table, row: Row, rates: Mapping[str, Mapping[str, float]]) -> Chart | None:
    points: list[Point] = []
    for column in table.columns:
        cell = table.cells[column.key][row.key]
        rate = rates.get(column.model or "", {}).get(row.dataset or "")
        if rate is not None and cell.value is not None and is_usual(row, column, cell):
            points.append((rate, cell.value, f"{column.label}: {rate:.2f} pieces, {number(cell.value)}"))
    if len({rate for rate, *_ in points}) < 2:
        return None
    subtitle = f"{metric(row.metric)} against pieces per word of mentions (test, else dev)"
    return replace(_chart_of(points, row.label, subtitle, "pieces per word", 0.05, 0.25), numbered=True)

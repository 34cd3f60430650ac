"""Figures of docs/scale.md from stored measurements (benchmarks/scale/).

    .venv/bin/python benchmarks/scale_figures.py

- `passes.json`: name -> [documents, processor seconds] as printed by scale.py.

Writes docs/images/scale-passes.svg; straight lines are least squares.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import linear_regression
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pubmill.report.figures import Axis

FOLDER, IMAGES = ROOT / "benchmarks/scale", ROOT / "docs/images"
COLOURS = ("#0d7d74", "#b3541e", "#555")

Points = Sequence[tuple[float, float]]


def chart(title: str, across: str, up: str, series: Mapping[str, Points], fitted: bool) -> str:
    """Return points as SVG, both axes from 0: joined in their order, or with a straight line through them."""
    points = [point for some in series.values() for point in some]
    x = Axis(0, 1.05 * max(one for one, _ in points), 60, 620)
    y = Axis(0, 1.1 * max(one for _, one in points), 270, 30)
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 320" font-family="sans-serif" '
        'font-size="12" role="img">',
        f"<title>{title}</title>",
        '<rect width="100%" height="100%" fill="white"/>',
        '<path d="M60 30V270H620" fill="none" stroke="#999"/>',
        f'<text x="60" y="18">{up}</text>',
        f'<text x="620" y="308" text-anchor="end">{across}</text>',
        *(f'<text x="{at}" y="288" text-anchor="middle">{value:,g}</text>' for at, value in x.ticks(6)),
        *(f'<text x="54" y="{at + 4}" text-anchor="end">{value:,g}</text>' for at, value in y.ticks(5)),
    ]
    for (name, some), colour in zip(series.items(), COLOURS, strict=False):
        line = fit(some) if fitted else some
        path = " ".join(f"{x.at(one)},{y.at(other)}" for one, other in line)
        lines.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        lines += [f'<circle cx="{x.at(a)}" cy="{y.at(b)}" r="2.5" fill="{colour}"/>' for a, b in some]
        end = line[-1]
        lines.append(f'<text x="{x.at(end[0]) + 8}" y="{y.at(end[1]) + 4}" fill="{colour}">{name}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def fit(points: Points) -> Points:
    """Return both ends of the straight line through points."""
    slope, intercept = linear_regression(*zip(*points, strict=True))
    return [(x, intercept + slope * x) for x in (points[0][0], points[-1][0])]


def total(cost: Mapping[str, Any], name: str) -> float:
    return float(sum(cost[name].values()))


def main() -> None:
    passes = json.loads((FOLDER / "passes.json").read_text(encoding="utf-8"))
    figures = {
        "passes": chart(
            "Processor seconds of the passes over the whole corpus",
            "million documents",
            "CPU-s",
            {name: [(count / 1e6, cpu) for count, cpu in rows] for name, rows in passes.items()},
            fitted=True,
        ),
    }
    for name, figure in figures.items():
        (IMAGES / f"scale-{name}.svg").write_text(figure, encoding="utf-8")


if __name__ == "__main__":
    main()

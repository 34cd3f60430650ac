"""Verdicts on published values, of tables and of one's own scores, as data frames and as a drawing."""

from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from pubmill.errors import PubmillError
from pubmill.recipes.tables import Equivalence
from pubmill.statistics.equivalence import difference_interval, uncertainty
from pubmill.storage.result_paths import Paths
from pubmill.tables.cells import read_table
from pubmill.tables.table_frames import cell_frame
from pubmill.tables.verdicts import verdict_on

if TYPE_CHECKING:
    from pandas import DataFrame

COLOURS = {"reproduced": "#1b7f4d", "not reproduced": "#b3261e"}
"""Verdict -> colour of its mark; others are grey."""
_WIDTH, _LEFT, _LANE = 560, 150, 26


def load_table(name: str, results: str | Path = "results/full", study: str = "") -> "DataFrame":
    """Return the cells of a finished table, one a row, with value, published value, difference and verdict.
    `name`: for example `gu2020/table06`; `study`: whose table it is, by default that of its paper. Raises
    `PubmillError` if the table was not made there."""
    study = study or name.partition("/")[0]
    path = Path(Paths(results, study).table(name, "json"))
    if not path.is_file():
        raise PubmillError(f"{path} is not there; make it: pubmill run {study} {name}")
    return cell_frame(read_table(path))


def judge(
    scores: Mapping[str, Iterable[float]],
    published: Mapping[str, float],
    margin: float = 1.0,
    published_runs: int = 5,
    alpha: float = 0.05,
    power: float = 0.8,
) -> "DataFrame":
    """Return a data frame with values, interval and verdict of each name in `published` (docs/verdicts.md).

    `scores`: the scores of your runs, by name, in the unit of the published values and of `margin`, the
    largest difference that counts as none; `published_runs`: runs behind a published value.
    """
    from pandas import DataFrame

    rule = Equivalence(alpha=alpha, power=power, margins={}, runs={})
    if not margin > 0 or published_runs < 1:
        raise PubmillError("margin must be above 0, and published_runs at least 1")
    lines = []
    for name, value in published.items():
        runs = [float(one) for one in scores.get(name, ())]
        if len(runs) < 2:
            raise PubmillError(f"{name}: {len(runs)} scores; a verdict needs those of two runs or more")
        error = uncertainty(stdev(runs), len(runs), published_runs, "mean")
        difference = fmean(runs) - value
        verdict = verdict_on(difference, error, margin, rule)
        low, high = difference_interval(difference, error, alpha) if error.error else (difference, difference)
        shown = {"name": name, "value": fmean(runs), "published": value, "difference": difference}
        rest = {"low": low, "high": high, "margin": margin, "p": verdict.p}
        lines.append({**shown, **rest, "verdict": verdict.verdict, "why": verdict.why})
    return DataFrame(lines)


class Drawing(str):
    """An SVG image, which notebooks show."""

    def _repr_svg_(self) -> str:
        return self


def draw_verdicts(frame: "DataFrame") -> Drawing:
    """Return a forest plot of what `judge` returns: differences with their intervals, over the margin."""
    lines: list[dict[str, Any]] = frame.to_dict("records")
    if not lines or not {"name", "difference", "low", "high", "margin", "verdict"} <= lines[0].keys():
        raise PubmillError("expected the rows that judge() returns")
    reach = 1.1 * max(abs(float(line[end])) for line in lines for end in ("low", "high", "margin"))
    height = _LANE * (len(lines) + 1)

    def x(value: float) -> float:
        return round(_LEFT + (_WIDTH - _LEFT) * (value + reach) / (2 * reach), 1)

    parts = [f'<line x1="{x(0)}" x2="{x(0)}" y1="0" y2="{height - _LANE}" stroke="#777"/>']
    for place, line in enumerate(lines):
        y, colour = _LANE * place + _LANE / 2, COLOURS.get(line["verdict"], "#777")
        low, high, margin = (x(line[name]) for name in ("low", "high", "margin"))
        wide = round(margin - x(-line["margin"]), 1)
        parts += [
            f'<rect x="{x(-line["margin"])}" y="{y - 10}" width="{wide}" height="20" fill="#eee"/>',
            f'<line x1="{low}" x2="{high}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="2"/>',
            f'<circle cx="{x(line["difference"])}" cy="{y}" r="4" fill="{colour}">'
            f"<title>{escape(line['verdict'])}</title></circle>",
            f'<text x="0" y="{y + 4}">{escape(str(line["name"]))}</text>',
        ]
    below = "ours minus published; grey: within the margin"
    parts.append(f'<text x="{_LEFT}" y="{height - 8}" fill="#555">{below}</text>')
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" font-family="sans-serif" font-size="12"'
    return Drawing(f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(parts)}</svg>')

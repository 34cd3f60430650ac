"""The runs of one prompted model on several engines, row by row of a table."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2, f

from pubmill.errors import PubmillError
from pubmill.statistics.resampling import CONFIDENCE
from pubmill.tables.cells import Table
from pubmill.tables.table_frames import run_frame


class EngineVariance(NamedTuple):
    """Standard deviations in the unit of the scores. `between`: of engines; `interval`: its confidence
    interval; `within`: of the runs of one engine, None if each has one run."""

    between: float
    interval: tuple[float, float]
    within: float | None


def engine_variance(runs: Sequence[Sequence[float]]) -> EngineVariance:
    """Return the variance component of engines, from the scores of the runs of each.

    The interval is that of Williams (1962, Biometrika 49) with the tails of Tukey: at least `CONFIDENCE` if
    scores are normal. With unequal numbers of runs it is approximate (unweighted means, Thomas and Hultquist
    1978). With one run an engine, the spread of runs counts as that of engines.
    """
    if len(runs) < 2 or not all(runs):
        raise PubmillError("the variance between engines needs runs of at least two")
    means = np.array([np.mean(of_engine) for of_engine in runs])
    each = len(runs) / sum(1 / len(of_engine) for of_engine in runs)
    freedom, left = len(runs) - 1, sum(map(len, runs)) - len(runs)
    squares = float(((means - means.mean()) ** 2).sum())
    inside = sum(float(np.var(of_engine)) * len(of_engine) for of_engine in runs) / left if left else 0.0
    tail = (1 - CONFIDENCE) / 2

    def bound(share: float) -> float:
        noise = float(f.ppf(share, freedom, left)) * freedom * inside / each if inside else 0.0
        return float(np.sqrt(max(0.0, squares - noise) / chi2.ppf(share, freedom)))

    between = float(np.sqrt(max(0.0, squares / freedom - inside / each)))
    return EngineVariance(between, (bound(1 - tail), bound(tail)), inside**0.5 if left else None)


def engine_lines(table: Table, engine_of: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each row in which a model has complete cells on several engines; `engine_of`: prompted
    model -> the model that it runs on another engine, or itself."""
    runs = run_frame(table)
    runs = runs[runs["complete"].astype(bool)]
    families = {
        one.key: engine_of[one.model] for one in table.columns if one.model and one.model in engine_of
    }
    for family in dict.fromkeys(families.values()):
        keys = [key for key, of_key in families.items() if of_key == family]
        for row, of_row in runs[runs["column"].isin(keys)].groupby("row", sort=False):
            engines = [scores.tolist() for _, scores in of_row.groupby("column", sort=False)["score"]]
            if len(engines) > 1:
                yield f"{family}, {row}: {_stated(engines)}"


def _stated(engines: list[list[float]]) -> str:
    variance = engine_variance(engines)
    low, high = variance.interval
    within = "one run each" if variance.within is None else f"{variance.within:.2f} between the runs of one"
    return (
        f"standard deviation between {len(engines)} engines {variance.between:.2f} points "
        f"(95 % interval {low:.2f} to {high:.2f}; {within})"
    )

"""How far the runs of one model differ between the engines that run it, beyond how they differ within one."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2, f

from pubmill.errors import PubmillError
from pubmill.statistics.resampling import CONFIDENCE


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

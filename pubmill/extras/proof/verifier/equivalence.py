"""Distributions of t tests, and verdicts by two one-sided tests."""

from __future__ import annotations

import functools
import math
import statistics
from typing import Any, Mapping, NamedTuple, Optional, Sequence

from pubmill.extras.proof.verifier.forms import Stated

MDD = "within the minimal detectable difference"


class Uncertain(NamedTuple):
    """Standard error of a difference, and its degrees of freedom."""

    error: float
    freedom: float


def incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function (Lentz's continued fraction)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 1000):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + step * d)
            c = 1 + step / c
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * fraction / a


def t_below(freedom: float, t: float) -> float:
    """Return the probability that t is below a value."""
    tail = incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2
    return tail if t < 0 else 1 - tail


@functools.cache
def t_critical(freedom: float, probability: float) -> float:
    """Return the t below which it is with a probability above 1/2."""
    low, high = 0.0, 1.0
    while t_below(freedom, high) < probability:
        low, high = high, 2 * high
    while high - low > 1e-15 * high and low < (low + high) / 2 < high:
        middle = (low + high) / 2
        low, high = (middle, high) if t_below(freedom, middle) < probability else (low, middle)
    return high


def power_of(shift: float, freedom: float, alpha: float) -> float:
    """Return the probability that a two-sided t test finds a difference of `shift` standard errors."""
    square = t_critical(freedom, 1 - alpha / 2) ** 2
    x, half, b = square / (square + freedom), shift * shift / 2, freedom / 2
    mean, a = int(half), 0.5
    beta = incomplete_beta(a, b, x)
    step = math.exp(
        math.lgamma(a + b) - math.lgamma(a + 1) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    below, weight = 0.0, math.exp(-half)
    for count in range(mean + 40 + int(12 * math.sqrt(half))):
        below += weight * beta
        weight *= half / (count + 1)
        beta -= step
        step *= x * (a + b) / (a + 1)
        a += 1
    return 1 - below


@functools.cache
def detectable_shift(freedom: float, alpha: float, power: float) -> float:
    """Return the difference, in standard errors, that is found with this power."""
    low, high = 0.0, 1.0
    while power_of(high, freedom, alpha) < power:
        low, high = high, 2 * high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if power_of(middle, freedom, alpha) < power else (low, middle)
    return high


@functools.cache
def seeds_for_half_a_point(spread: float, alpha: float, power: float) -> int:
    """Return the seeds of each of two models that resolve 0.5 points between them."""
    if spread == 0:
        return 2
    normal = statistics.NormalDist()
    steps = normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)
    seeds = max(2, math.floor(2 * (steps * spread / 0.5) ** 2))
    while power_of(0.5 / (spread * math.sqrt(2 / seeds)), 2 * (seeds - 1), alpha) < power:
        seeds += 1
    return seeds


def of_runs(spread: float, runs: int, published_runs: int, aggregate: str) -> Uncertain:
    factor = math.sqrt(math.pi / 2) if aggregate == "median" else 1.0
    return Uncertain(factor * spread * math.sqrt(1 / runs + 1 / published_runs), runs - 1)


def summed(parts: Sequence[tuple[float, Uncertain]]) -> Uncertain:
    """Return the uncertainty of a weighted sum of independent differences (Welch, Satterthwaite)."""
    variances = [(weight * one.error) ** 2 for weight, one in parts]
    spent = sum(part**2 / one.freedom for part, (_, one) in zip(variances, parts) if part)
    total = sum(variances)
    return Uncertain(math.sqrt(total), total**2 / spent if spent else 0.0)


def untested(name: str) -> dict[str, Any]:
    return {"verdict": name, "margin": None, "p": None, "detectable": None, "why": Stated(str)}


def verdict_of(
    difference: float, of: Optional[Uncertain], margin: float, rule: Mapping[str, Any]
) -> dict[str, Any]:
    """Return verdict, margin, p value and minimal detectable difference of ours minus published."""
    if of is None or of.error == 0:
        return untested("no verdict")
    p = t_below(of.freedom, (abs(difference) - margin) / of.error)
    detectable = of.error * detectable_shift(of.freedom, rule["alpha"], rule["power"])
    if p <= rule["alpha"]:
        name = "reproduced"
    else:
        name = "not reproduced" if abs(difference) > max(margin, detectable) else MDD
    return {**untested(name), "margin": margin, "p": p, "detectable": detectable}

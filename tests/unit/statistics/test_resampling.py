"""Tests of differences between models: against enumeration, by hand, and by simulation of their size."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.metrics.contributions import Array, Contributions, Totals
from pubmill.metrics.registry import ratio
from pubmill.statistics import resampling
from pubmill.statistics.resampling import Fold, compare, fold, holm, interval, observed, p_value, randomised


def accuracy(totals: Totals) -> Array:
    return ratio(totals["right"], totals["all"])


def run(*right: float) -> Contributions:
    return Contributions(("all", "right"), np.array([[1.0, one] for one in right]))


def generator(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


A, B = (1, 1, 1, 1, 1, 0, 1, 1), (1, 0, 0, 1, 0, 0, 1, 0)


def test_randomisation_equals_enumerating_all_exchanges() -> None:
    """Eight documents: 256 ways to exchange them."""
    ways = itertools.product((False, True), repeat=len(A))
    chance = [
        sum((b - a) if swap else (a - b) for a, b, swap in zip(A, B, way, strict=True)) / 8 for way in ways
    ]
    exact = sum(abs(one) >= 0.5 - 1e-12 for one in chance) / 256
    found = compare([fold([[run(*A)], [run(*B)]])], accuracy, "mean", 0, generator(), 20_000)
    assert found[1].difference == 0.5
    assert found[1].randomisation_p == pytest.approx(exact, abs=0.01)


def test_the_bootstrap_has_the_spread_of_paired_differences() -> None:
    """A mean of paired differences: its standard error is that of the textbook. Means are multiples of
    1/400, so the normal distribution is taken from half a step nearer to 0."""
    noise = np.random.default_rng(3)
    a, b = (noise.random(400) < 0.8).astype(float), (noise.random(400) < 0.75).astype(float)
    found = compare([fold([[run(*a)], [run(*b)]])], accuracy, "mean", 0, generator(), 20_000)[1]
    error = float(np.std(a - b)) / math.sqrt(400)
    z = (abs(found.difference) - 0.5 / 400) / error
    assert found.bootstrap_p == pytest.approx(math.erfc(z / math.sqrt(2)), abs=0.02)
    assert found.interval == pytest.approx(
        (found.difference - 1.96 * error, found.difference + 1.96 * error), abs=0.1 * error + 0.0025
    )


def test_equal_models_do_not_differ() -> None:
    found = compare([fold([[run(*A)] * 2, [run(*A)] * 2])], accuracy, "mean", 0, generator(), 500)[1]
    assert (found.difference, found.bootstrap_p, found.randomisation_p) == (0.0, 1.0, 1.0)
    assert found.interval == (0.0, 0.0)


def test_seeds_widen_the_interval() -> None:
    """Seeds that differ much, on many documents that differ little."""
    seeds = [run(*([1.0] * n + [0.0] * (100 - n))) for n in (50, 90)]
    steady = [run(*([1.0] * 70 + [0.0] * 30))] * 2
    with_spread = compare([fold([seeds, [run(*([1.0, 0.0] * 50))] * 2])], accuracy, "mean", 0, generator())[1]
    without = compare([fold([steady, [run(*([1.0, 0.0] * 50))] * 2])], accuracy, "mean", 0, generator())[1]
    width = [high - low for low, high in filter(None, (with_spread.interval, without.interval))]
    assert width[0] > 1.5 * width[1]


@pytest.mark.parametrize("aggregate", ["mean", "median"])
def test_one_run_against_several_keeps_the_difference(aggregate: str) -> None:
    """Runs are repeated to a common number; without any exchange that must be the aggregates' difference."""
    several = [run(*A), run(*B), run(1, 1, 1, 1, 1, 1, 1, 1)]
    one = fold([[run(*B)], several])

    class Still:
        def integers(self, high: int, size: tuple[int, int], dtype: type) -> Array:
            return np.zeros(size, dtype)

    found = randomised([one], accuracy, aggregate, 0, [1], Still(), 3)  # type: ignore[arg-type]
    means = observed([one], accuracy, aggregate)  # type: ignore[arg-type]
    assert found == pytest.approx(np.full((3, 1), means[0] - means[1]))


def test_folds_are_resampled_each_by_itself() -> None:
    """Two folds of other sizes: the mean over runs of both, each on its own documents."""
    folds = [fold([[run(*A)], [run(*B)]]), fold([[run(1, 1, 1)], [run(1, 0, 0)]])]
    assert observed(folds, accuracy, "mean") == pytest.approx([(7 / 8 + 1) / 2, (3 / 8 + 1 / 3) / 2])
    found = compare(folds, accuracy, "mean", 0, generator())[1]
    assert found.difference == pytest.approx((0.5 + 2 / 3) / 2)
    assert found.interval is not None and found.interval[0] > 0


def test_classes_that_a_run_does_not_know_add_nothing_there() -> None:
    one = Contributions(("all", "x"), np.array([[1.0, 2.0]]))
    other = Contributions(("all", "y"), np.array([[1.0, 3.0]]))
    made = fold([[one], [other]])
    assert made.names == ("all", "x", "y")
    assert made.values.tolist() == [[[1.0, 1.0], [2.0, 0.0], [0.0, 3.0]]]
    assert made.models.tolist() == [0, 1]


def test_pieces_give_what_one_go_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights are made a few at a time where there are many documents."""
    one: Fold = fold([[run(*A)], [run(*B)]])
    monkeypatch.setattr(resampling, "AT_ONCE", 8 * 7)
    found = compare([one], accuracy, "mean", 0, generator(), 100)[1]
    monkeypatch.undo()
    assert found == compare([one], accuracy, "mean", 0, generator(), 100)[1]


def test_undefined_resamplings_are_left_out() -> None:
    chance = np.array([0.1, np.nan, 0.6, -0.5])
    assert p_value(chance, 0.5) == (1 + 2) / (1 + 3)
    assert interval(np.array([np.nan, 1.0, 1.0])) == (1.0, 1.0)
    assert interval(np.array([np.nan])) is None
    assert p_value(np.array([np.nan]), 0.5) == 1.0


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.9]) == pytest.approx([0.04, 0.09, 0.09, 0.9])
    assert holm([0.5, 0.6]) == [1.0, 1.0] and holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_keeps_order_and_never_lowers(values: list[float]) -> None:
    adjusted = holm(values)
    assert all(p <= q <= 1 for p, q in zip(values, adjusted, strict=True))
    order = sorted(range(len(values)), key=lambda i: values[i])
    assert [adjusted[i] for i in order] == sorted(adjusted)

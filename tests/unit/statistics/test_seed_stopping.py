"""When seeds decide between models: evidence by numerical integration, and errors by simulation."""

import numpy as np
import pytest
from scipy import integrate, stats

from pubmill.metrics.contributions import Array
from pubmill.statistics.seed_stopping import (
    EFFECTS,
    e_values,
    largest_e_values,
    next_models,
    p_values,
    pair_states,
    resolution,
)  # fmt: skip


def test_e_values_are_ratios_of_densities_of_t() -> None:
    """The mixture over effects of the density of the noncentral t, by integration, over that of t."""
    assert tuple(2.0**power for power in range(6)) == EFFECTS  # from 1 to 32, as docs/seeds.md says
    differences = np.array([0.02, 0.05, 0.03, 0.01])
    t = stats.ttest_1samp(differences, 0).statistic
    ratios = []
    for effect in EFFECTS[:3]:
        mixed, _ = integrate.quad(
            lambda size, effect=effect: stats.nct.pdf(t, 3, size * 2) * stats.norm.pdf(size, scale=effect),
            -8 * effect,
            8 * effect,
            limit=200,
        )
        ratios.append(mixed / stats.t.pdf(t, 3))
    by_hand = [
        (1 + 4 * effect**2) ** -0.5 * ((1 + t**2 / 3) / (1 + t**2 / (3 * (1 + 4 * effect**2)))) ** 2
        for effect in EFFECTS
    ]
    assert by_hand[:3] == pytest.approx(ratios, rel=1e-4)
    assert float(e_values(differences, 0.0)) == pytest.approx(np.mean(by_hand))


def test_few_or_equal_differences_are_no_evidence_of_their_own() -> None:
    assert e_values(np.array([0.5]), 0.0) == 1
    assert e_values(np.zeros(5), 0.0) < 1 and e_values(np.zeros(5), resolution(140)) < 1
    same = np.full(3, 1 / 140)
    assert e_values(same, 0.0) > 100 and e_values(same, resolution(140)) < 5


def test_the_largest_e_value_is_kept() -> None:
    rising_and_falling = np.array([0.02, 0.021, 0.02, -0.05])
    looks = [float(e_values(rising_and_falling[:n], 1e-6)) for n in (2, 3, 4)]
    assert looks[2] < 1 < looks[0] < looks[1] == float(largest_e_values(rising_and_falling, 1e-6))
    assert float(largest_e_values(np.array([0.5]), 0.0)) == 1


def test_p_values_are_shares_of_equal_models() -> None:
    """Whatever the spread, a share alpha of equal models has p <= alpha by the last seed."""
    equal = 7 * np.random.default_rng(5).normal(size=(200_000, 5))
    p = p_values(largest_e_values(equal, 0.0), 5)
    for alpha in (0.01, 0.05, 0.2):
        assert np.mean(p <= alpha) == pytest.approx(alpha, rel=0.2)
    assert 0 < float(p_values(np.array(np.inf), 5)) < 1e-5
    assert float(p_values(np.array(20.0), 5)) < 1 / 20  # Ville's bound


def wrong_rows(scores: Array, items: int) -> float:
    """Return the share of rows [rows, models, seeds] in which a pair of equal models is ever decided."""
    first, second = np.triu_indices(scores.shape[1], 1)
    gaps = scores[:, first] - scores[:, second]
    p = p_values(largest_e_values(gaps, resolution(items)), scores.shape[2])
    return float(np.mean(p.min(axis=1) * len(first) <= 0.05))


SEEDS = {
    "normal": lambda noise, size: 0.8 + 0.01 * noise.normal(size=size),
    "heavy tails": lambda noise, size: 0.8 + 0.01 * noise.standard_t(3, size=size),
    "skewed": lambda noise, size: 0.8 - 0.02 * noise.exponential(size=size),
    "140 items": lambda noise, size: noise.binomial(140, 0.8, size=size) / 140,
    "20 items, seeds nearly alike": lambda noise, size: (16 + (noise.random(size) < 0.3)) / 20,
    "some runs fail": lambda noise, size: (
        0.8 + 0.01 * noise.normal(size=size) - 0.4 * (noise.random(size) < 0.1)
    ),
}


def family_wise_error(kind: str, rows: int, most: int = 10) -> float:
    """Return the share of rows of four equal models with a wrong conclusion at any look."""
    items = 20 if kind.startswith("20") else 140
    return wrong_rows(SEEDS[kind](np.random.default_rng(1), (rows, 4, most)), items)


@pytest.mark.parametrize("kind", SEEDS)
def test_equal_models_are_rarely_called_different_however_often_one_looks(kind: str) -> None:
    assert family_wise_error(kind, 1000) <= 0.05


@pytest.mark.long
@pytest.mark.parametrize("most", [5, 10])
@pytest.mark.parametrize("kind", SEEDS)
def test_the_family_wise_error_in_ten_thousand_rows(kind: str, most: int) -> None:
    assert family_wise_error(kind, 10_000, most) <= 0.05


def next_runs(scores: dict[str, list[float]], most: int, items: int) -> list[str]:
    """The models that need one more seed to decide pairs on these documents."""
    return list(next_models(scores, pair_states(scores, most, items), most))


def runs_needed(means: dict[str, float], most: int) -> tuple[dict[str, int], set[tuple[str, str]]]:
    """Make runs as the plan asks for them; the number of each model's, and the decided pairs."""
    noise = np.random.default_rng(3)
    known: dict[str, list[float]] = {name: [] for name in means}
    while batch := next_runs(known, most, 1000):
        for name in batch:
            known[name].append(means[name] + 0.004 * noise.normal())
    decided = {(one.first, one.second) for one in pair_states(known, most, 1000) if one.decided}
    return {name: len(scores) for name, scores in known.items()}, decided


def test_clear_pairs_stop_early_and_close_ones_are_given_up() -> None:
    runs, decided = runs_needed({"a": 0.9, "b": 0.8, "c": 0.8}, 10)
    assert decided == {("a", "b"), ("a", "c")}
    assert sum(runs.values()) <= 18 and max(runs.values()) <= 10


def test_a_lagging_model_catches_up_first() -> None:
    known = {"a": [0.9, 0.91, 0.905], "b": [0.8, 0.81], "c": [0.7]}
    assert next_runs(known, 10, 1000) == ["b", "c"]
    assert next_runs({"a": [], "b": []}, 5, 100) == ["a", "b"]
    assert next_runs({"a": [0.1] * 2, "b": [0.2] * 2}, 2, 100) == []


def test_the_direction_and_the_last_seed() -> None:
    [one] = pair_states({"a": [0.5, 0.51, 0.52, 0.5, 0.5], "b": [0.8, 0.81, 0.8, 0.82, 0.81]}, 5, 1000)
    assert one.decided and one.difference < 0 and not one.open and 0 < one.p < 0.05
    [one] = pair_states({"a": [0.5, 0.6], "b": [0.55, 0.51]}, 10, 1000)
    assert not one.decided and not one.open

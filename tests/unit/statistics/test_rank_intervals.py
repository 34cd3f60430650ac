"""Ranks and their intervals: by hand, against enumeration, and by simulation of their size."""

import itertools

import numpy as np
import pytest

from pubmill.statistics.rank_intervals import (
    means_on_the_same_datasets,
    probability_of_improvement,
    ranks,
    resampled_means,
    two_sided_p,
)


def generator(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def on_datasets(scores: list[list[float]]) -> np.ndarray:
    """Scores [datasets, models] without other draws."""
    return np.array(scores)[:, None, :]


def test_resampled_means_equal_enumerating_all_draws_of_datasets() -> None:
    """Three datasets: 27 draws, with their weights."""
    values, weights = on_datasets([[1, 0], [3, 0], [8, 0]]), np.array([0.5, 0.25, 0.25])
    exact = [
        float(np.average(values[list(way), 0, 0], weights=weights[list(way)]))
        for way in itertools.product(range(3), repeat=3)
    ]
    found = resampled_means(values, weights, generator(), 600_000)[:, 0]
    assert set(np.round(found, 9)) == set(np.round(exact, 9))
    assert found.mean() == pytest.approx(np.mean(exact), abs=0.03)
    assert found.std() == pytest.approx(np.std(exact), abs=0.03)


def test_draws_of_a_dataset_are_the_same_for_all_models_and_new_each_time() -> None:
    values = np.array([[[0.0, 1.0], [10.0, 11.0]], [[4.0, 5.0], [4.0, 5.0]]])
    weights = np.ones(2)
    for means in (resampled_means, means_on_the_same_datasets):
        found = means(values, weights, generator(), 4_000)
        assert np.all(found[:, 1] - found[:, 0] == 1)
    assert set(means_on_the_same_datasets(values, weights, generator(), 500)[:, 0]) == {2.0, 7.0}
    assert {0.0, 5.0, 10.0} < set(resampled_means(values, weights, generator(), 500)[:, 0])


def test_p_values_are_two_sided_and_count_ties_for_both_orders() -> None:
    resampled = np.array([[1.0, 0.0, 1.0]] * 9 + [[0.0, 1.0, 0.0]])
    found = two_sided_p(resampled)
    assert found[0, 1] == found[1, 0] == pytest.approx(2 * 2 / 11)
    assert found[0, 2] == 1


def test_ranks_groups_and_adjacent_pairs() -> None:
    """Two models that only differ by chance, and a third far below them on every dataset."""
    scores = [[80 + i, 80.5 + i - (i % 3), 60 + i] for i in range(8)]
    values, weights = on_datasets(scores), np.ones(8)
    observed = values[:, 0].mean(axis=0)
    found = ranks(observed, resampled_means(values, weights, generator()))
    assert found.order == (0, 1, 2)
    assert (found.low, found.high) == ((1, 1, 3), (2, 2, 3))
    assert found.groups == (1, 1, 2)
    near, far = found.adjacent
    assert (near.resolved, far.resolved) == (False, True)
    assert 0.05 < near.reversed < 0.3 and far.reversed == 0
    assert (
        far.interval and far.interval[0] > 15 and far.difference == pytest.approx(observed[1] - observed[2])
    )


def test_a_group_ends_only_where_all_above_are_better_than_all_below() -> None:
    """The first is better than the third, the second differs from neither."""
    noise = generator(3)
    base = noise.normal(size=20)
    scores = np.stack([base + 1, base + 0.5 + noise.normal(size=20) * 2, base], axis=1)
    values = scores[:, None, :]
    found = ranks(scores.mean(axis=0), resampled_means(values, np.ones(20), generator()))
    assert found.groups == (1, 1, 1)
    assert (found.low, found.high) == ((1, 1, 2), (2, 3, 3))


def test_the_same_generator_gives_the_same_ranks() -> None:
    values, weights = generator(5).normal(size=(9, 4, 5)), np.ones(9)
    first, again = (
        ranks(values.mean(axis=(0, 1)), resampled_means(values, weights, generator(2), 999)) for _ in "ab"
    )
    assert first == again


def test_rank_intervals_of_equal_models_are_rarely_narrow() -> None:
    """Four equal models on 20 datasets: some pair is called different in at most about 5 % of the cases."""
    noise, wrong = generator(7), 0
    for _ in range(200):
        scores = noise.normal(size=(20, 4))
        found = ranks(scores.mean(axis=0), resampled_means(scores[:, None], np.ones(20), noise, 1_000))
        wrong += (found.low, found.high) != ((1,) * 4, (4,) * 4)
    assert wrong / 200 < 0.1


def test_probability_of_improvement_by_hand() -> None:
    """On the first dataset 3 of 4 pairs and a tie; on the second none."""
    first = [np.array([1.0, 3.0]), np.array([0.0])]
    second = [np.array([0.0, 1.0]), np.array([5.0, 6.0])]
    assert probability_of_improvement(first, second) == pytest.approx((3.5 / 4 + 0) / 2)

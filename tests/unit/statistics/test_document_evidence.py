"""Differences on other documents: evidence by a plain search, variances by hand, errors by simulation."""

from collections.abc import Callable

import numpy as np
import pytest

from pubmill.metrics.contributions import Array, Contributions
from pubmill.statistics.document_evidence import (
    document_states,
    jackknife_variances,
    largest_two_level_e_values,
    scores_without_units,
    two_level_e_values,
    two_level_p_values,
)
from pubmill.statistics.seed_stopping import (
    largest_e_values,
    mixture,
    next_models,
    p_values,
    pair_states,
    resolution,
)  # fmt: skip

Scores = tuple[Array, Array]
"""Scores [rows, models, seeds], and those [..., units] on all documents but one."""
Made = Callable[[np.random.Generator, int, int], Scores]
MODELS = 4


def test_scores_without_each_unit() -> None:
    run = Contributions(("correct", "all"), np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 2.0]]))
    found = scores_without_units(run, lambda totals: totals["correct"] / totals["all"])
    assert found == pytest.approx([3 / 6, 1 / 4, 4 / 6])


def test_the_variance_of_a_mean_is_the_usual_one() -> None:
    values = np.random.default_rng(1).normal(size=(3, 50))
    without = (values.sum(axis=1, keepdims=True) - values) / 49
    expected = [values[:seeds].mean(axis=0).var(ddof=1) / 50 for seeds in (2, 3)]
    assert jackknife_variances(without) == pytest.approx(expected)


def test_e_values_are_least_products_over_the_mean_of_seeds() -> None:
    """The product of both e-values, by a fine grid of the mean over seeds."""
    mean, variance, seeds, of_documents, units = 0.03, 1e-4, 5, 4e-5, 200
    found = float(
        two_level_e_values(np.array(mean), np.array(variance), seeds, np.array(of_documents), units)
    )
    true = np.linspace(0, mean, 20_001)
    distance = true**2 / of_documents
    of_units = np.mean(
        [
            np.exp(
                units / 2 * np.log((units - 1 + distance) / (units - 1 + distance / (1 + size**2)))
                - np.log(1 + size**2) / 2
            )
            for size in (1, 2, 4, 8)
        ],
        axis=0,
    )
    product = of_units * mixture(seeds * (mean - true) ** 2 / variance, seeds)
    assert found == pytest.approx(product.min(), rel=0.01) and product.argmin() not in (0, 20_000)


def test_p_values_bound_the_shares_of_equal_models() -> None:
    """Seeds and documents are normal: a share of at most alpha has p <= alpha, of either size of noise."""
    noise = np.random.default_rng(7)
    for of_documents, of_seeds in ((1.0, 1e-3), (1e-3, 1.0), (1.0, 1.0)):
        true = of_documents * noise.normal(size=(5000, 1))
        gaps = true + of_seeds * noise.normal(size=(5000, 5))
        variances = np.full((5000, 4), of_documents**2)
        p = two_level_p_values(largest_two_level_e_values(gaps, variances, 500, 0.0), 5, 500)
        for alpha in (0.01, 0.05, 0.2):
            assert np.mean(p <= alpha) <= alpha
        assert np.mean(p <= 0.2) > 0.001
    assert 0 < float(two_level_p_values(np.array(np.inf), 5, 100)) < 1e-5
    assert float(two_level_p_values(np.array(0.0), 5, 100)) == 1


def without(values: Array) -> Array:
    """Means over all units but one, of values [..., units]."""
    found: Array = (values.sum(axis=-1, keepdims=True) - values) / (values.shape[-1] - 1)
    return found


def test_seeds_alone_do_not_decide_about_other_documents() -> None:
    """The second model is better on 52 of 100 documents and worse on 48, with every seed."""
    gains = np.where(np.arange(100) < 52, 0.1, -0.1)
    noise = 1e-3 * np.random.default_rng(2).normal(size=(2, 5, 1))
    values = 0.5 + noise + np.stack([np.zeros((5, 100)), np.tile(gains, (5, 1))])
    scores = {"a": list(values[0].mean(axis=1)), "b": list(values[1].mean(axis=1))}
    [here] = pair_states(scores, 5, 1000)
    [elsewhere] = document_states(scores, {"a": without(values[0]), "b": without(values[1])}, 5, 1000)
    assert here.decided and here.difference == elsewhere.difference < 0
    assert not elsewhere.decided and not elsewhere.open and elsewhere.p > 0.5


def test_a_difference_on_most_documents_is_decided_and_a_clear_one_early() -> None:
    noise = np.random.default_rng(3)
    values = 0.5 + 0.05 * noise.normal(size=(2, 5, 100)) + np.array([0.1, 0.0])[:, None, None]
    names = ("a", "b")
    for seeds in (2, 5):
        scores = {name: list(own[:seeds].mean(axis=1)) for name, own in zip(names, values, strict=True)}
        rest = {name: without(own[:seeds]) for name, own in zip(names, values, strict=True)}
        [one] = document_states(scores, rest, 5, 1000)
        assert one.decided == (seeds == 5) and one.open == (seeds == 2)
        assert list(next_models(scores, [one], 5)) == ([] if seeds == 5 else ["a", "b"])


def test_models_without_runs_and_undefined_scores() -> None:
    scores = {"a": [0.5, 0.6], "b": [0.5], "c": list[float]()}
    rest = {name: np.full((len(own), 20), 0.5) for name, own in scores.items()}
    states = document_states(scores, rest, 5, 20)
    assert all(one.open and one.p == 1 and not one.decided for one in states)
    rest = {"a": np.full((3, 20), np.nan), "b": np.full((3, 20), 0.5)}
    [one] = document_states({"a": [0.9, 0.91, 0.9], "b": [0.1, 0.11, 0.12]}, rest, 5, 20)
    assert one.p == 1 and not one.decided and not one.open


def logistic(values: Array) -> Array:
    return 1 / (1 + np.exp(-values))


def continuous(units: int, documents: Callable[[np.random.Generator, tuple[int, ...]], Array]) -> Made:
    """Values of documents: those of each model, of its seeds, and of both together."""

    def made(noise: np.random.Generator, rows: int, most: int) -> Scores:
        values = 0.1 * documents(noise, (rows, MODELS, 1, units))
        values = values + 0.01 * noise.normal(size=(rows, MODELS, most, 1))
        values = values + 0.1 * noise.normal(size=(rows, MODELS, most, units))
        return values.mean(axis=-1), without(values)

    return made


def questions(units: int, alike: float) -> Made:
    """Right and wrong answers, of which a share `alike` is the same for all seeds of a model."""

    def made(noise: np.random.Generator, rows: int, most: int) -> Scores:
        ease = noise.normal(1.4, 2, size=(rows, 1, 1, units))
        own = noise.normal(0, 1.5, size=(rows, MODELS, 1, units))
        fixed, drawn = noise.random((rows, MODELS, 1, units)), noise.random((rows, MODELS, most, units))
        chance = np.where(noise.random(drawn.shape) < alike, fixed, drawn)
        right = (chance < logistic(ease + own)).astype(float)
        return right.mean(axis=-1), without(right)

    return made


def entities(units: int) -> Made:
    """F1 of documents with very different numbers of mentions."""

    def made(noise: np.random.Generator, rows: int, most: int) -> Scores:
        shape = (rows, MODELS, most, units)
        gold = 1 + noise.negative_binomial(0.5, 0.05, size=(rows, 1, 1, units)) + np.zeros(shape, dtype=int)
        ease = noise.normal(1.4, 1, size=(rows, 1, 1, units))
        own = noise.normal(0, 0.5, size=(rows, MODELS, 1, units))
        found = logistic(ease + own + noise.normal(0, 0.1, size=(rows, MODELS, most, 1)))
        correct, wrong = noise.binomial(gold, found), noise.poisson(gold * (1 - found))
        double, whole = 2.0 * correct, gold + correct + wrong
        totals = double.sum(axis=-1, keepdims=True), whole.sum(axis=-1, keepdims=True)
        return (totals[0] / totals[1])[..., 0], (totals[0] - double) / (totals[1] - whole)

    return made


ROWS = {
    "normal": continuous(100, lambda noise, size: noise.normal(size=size)),
    "heavy-tailed documents": continuous(100, lambda noise, size: noise.standard_t(3, size=size)),
    "skewed documents": continuous(100, lambda noise, size: noise.exponential(size=size)),
    "140 questions": questions(140, 0.0),
    "140 questions, seeds nearly alike": questions(140, 0.98),
    "20 questions, seeds nearly alike": questions(20, 0.95),
    "entities of 100 documents": entities(100),
    "entities of 30 documents": entities(30),
}


def family_wise_errors(kind: str, rows: int, most: int) -> tuple[float, float]:
    """Return the shares of rows with a wrong conclusion on other documents at any look, of four models that
    are equal over documents: by the evidence on these documents, and by that on others."""
    noise, wrong = np.random.default_rng(1), np.zeros(2)
    first, second = np.triu_indices(MODELS, 1)
    for _ in range(rows // 200):
        scores, rest = ROWS[kind](noise, 200, most)
        units = rest.shape[-1]
        gaps, floor = scores[:, first] - scores[:, second], resolution(units)
        variances = jackknife_variances(rest[:, first] - rest[:, second])
        here = p_values(largest_e_values(gaps, floor), most)
        both = two_level_p_values(largest_two_level_e_values(gaps, variances, units, floor), most, units)
        wrong += [np.sum(p.min(axis=1) * len(first) <= 0.05) for p in (here, both)]
    return float(wrong[0] / rows), float(wrong[1] / rows)


@pytest.mark.parametrize("kind", ["normal", "140 questions, seeds nearly alike", "entities of 30 documents"])
def test_models_equal_over_documents_are_rarely_called_different(kind: str) -> None:
    seeds_alone, both = family_wise_errors(kind, 600, 5)
    assert both <= 0.05 < seeds_alone


@pytest.mark.long
@pytest.mark.parametrize("most", [5, pytest.param(10, marks=pytest.mark.weekly)])
@pytest.mark.parametrize("kind", ROWS)
def test_the_family_wise_error_in_ten_thousand_rows(kind: str, most: int) -> None:
    assert family_wise_errors(kind, 10_000, most)[1] <= 0.05

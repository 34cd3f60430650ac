"""What the verifier ranks: rows, complete columns, means of datasets, and the levels of resampling."""

from typing import Any

import numpy as np
import pytest

from pubmill.extras.proof.verifier import ranks
from pubmill.extras.proof.verifier.metrics import METRICS
from pubmill.extras.proof.verifier.resampling import Fold, percentiles

FLAT = {"a": ["a"], "b": ["b"]}


def row(key: str, metric: str = "f1", dataset: str | None = None) -> dict[str, Any]:
    return {"key": key, "dataset": dataset, "metric": metric}


def test_rows_of_a_dataset_count_together_without_precision_and_recall() -> None:
    rows = [row("a", dataset="x"), row("b", dataset="x"), row("c"), row("d"), row("p", "entity_precision"),
            row("r", "entity_recall")]  # fmt: skip
    assert ranks.rows_by_dataset(rows, {"a", "b", "c", "p", "r"}) == {"x": ["a", "b"], "c": ["c"]}


def column(key: str, model: str | None) -> dict[str, Any]:
    return {"key": key, "label": key.title(), "model": model}


@pytest.mark.parametrize(
    ("values", "scored"),
    [({"one": 2, "two": 2, "best": 2}, ["One", "Two"]), ({"one": 2, "two": 1, "best": 2}, None), ({}, None)],
)
def test_two_models_with_all_published_values_are_ranked(
    values: dict[str, int], scored: list[str] | None
) -> None:
    """A column without a model is none, and neither is one that lacks a value."""
    columns = [column("one", "one"), column("two", "two"), column("best", None)]
    known = {(key, name): 70.0 + size for key, size in values.items() for name in ("a", "b")[:size]}
    rows, found = ranks.scored_by_print({"rows": [row("a"), row("b")], "columns": columns}, known)
    assert [*rows] == (["a", "b"] if values else [])
    assert (found and found.models) == scored
    if found:
        assert found.observed.tolist() == [[72.0, 72.0]] * 2


@pytest.mark.parametrize(
    ("seeds", "levels"),
    [([1, 1], ["4 documents"]), ([2, 2], ["4 documents", "2 seeds of a model on a dataset"]),
     ([1, 2], ["4 documents", "1 to 2 seeds of a model on a dataset"])],
)  # fmt: skip
def test_seeds_are_a_level_where_a_model_has_several(seeds: list[int], levels: list[str]) -> None:
    values = np.ones((4, 3, sum(seeds)))
    fold = Fold(["gold", "predicted", "correct"], values, np.repeat([0, 1], seeds))
    scores = {str(place): [50.0] * size for place, size in enumerate(seeds)}
    one = ranks.RowOfRuns([fold], "document", scores, "x", "entity_f1")
    found = ranks.scored_by_runs("gu2020/table06", "mean", ["A", "B"], [[one]])
    assert found.levels == levels
    assert found.observed.tolist() == [[100.0, 100.0]]


def test_a_composite_with_a_row_that_is_not_ranked_is_no_mean() -> None:
    composites = [{"label": "Lost", "groups": {"x": ["a"], "y": ["gone"]}},
                  {"label": "Weighted", "groups": {"x": ["a"], "y": ["a", "b"]}}]  # fmt: skip
    found = ranks.weights_by_mean(composites, FLAT)
    assert {label: weights.tolist() for label, weights in found.items()} == {
        "mean of the datasets": [0.5, 0.5], "Weighted": [0.75, 0.25],
    }  # fmt: skip
    same = ranks.weights_by_mean([{"label": "All", "groups": {"x": ["a", "b"]}}], FLAT)
    assert [*same] == ["All"]


@pytest.mark.parametrize(("datasets", "kinds"), [(5, [False]), (6, [True, False])])
def test_datasets_are_drawn_only_from_six_or_more(datasets: int, kinds: list[bool]) -> None:
    rows = {f"d{number}": [f"r{number}"] for number in range(datasets)}
    observed = np.array([[80.0, 70.0 + number] for number in range(datasets)])
    runs = [[np.array([score]) for score in scores] for scores in observed]
    scored = ranks.Scored(["A", "B"], observed, observed[:, None, :], runs, [])
    recipe = {"paper": "p", "table": "table07", "composites": []}
    made = ranks.rankings(recipe, scored, rows, same_too=True)
    assert [f"{datasets} datasets" in one["levels"] for one in made] == kinds
    assert len(ranks.rankings(recipe, scored, rows, same_too=False)) == kinds.count(True)


def test_an_interval_is_that_of_the_finite_gaps() -> None:
    assert percentiles(np.array([np.nan, np.inf])) is None
    assert percentiles(np.array([np.nan, 2.0, 2.0])) == (2.0, 2.0)


def test_a_score_of_relations_is_unknown_without_what_it_counts() -> None:
    """Novelty counts only where a corpus states it."""
    counts = {f"{of}_{what}": np.array([1.0, 1.0]) for of in ("pair", "novelty", "pair_novelty")
              for what in ("gold", "predicted", "correct")}  # fmt: skip
    totals = {"gold": np.ones(2), "predicted": np.ones(2), "correct": np.ones(2), **counts,
              "with_novelty": np.array([1.0, 0.0]), "examples": np.ones(2)}  # fmt: skip
    found = METRICS["relation_novelty_f1"](totals)
    assert found[0] == 1.0 and np.isnan(found[1])

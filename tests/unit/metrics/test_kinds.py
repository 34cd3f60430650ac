"""The scorers of all kinds: which metrics they give, and that specs and versions know these; correlation."""

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr

from pubmill.examples.tagging import PredictedLabels
from pubmill.metrics import METRICS, SCORERS, dev_score, metrics_of, registry
from pubmill.metrics.classes import pearson, score_correlation
from pubmill.specs.dataset_specs import TASKS
from tests.unit.metrics.toy_predictions import KINDS, RELATIONS, documents, labelled, pairs, tokens

NUMBER = st.floats(-100, 100).map(lambda value: round(value, 3))
GOLD: dict[str, list[Any]] = {kind: examples for kind, (examples, *_) in KINDS.items()} | {
    "tokens": [replace(tokens("B-OUT O")[0], layers={"outcomes": [1, 0]})],
    "sequence": labelled("01"),
    "multilabel": documents("x"),
    "relations": [replace(RELATIONS[0], relations=[["x", "y", "r", "No"]])],
}
PREDICTED: dict[str, list[Any]] = {
    "tokens": [PredictedLabels(["B-OUT", "O"], [["B-OUT", "X"], ["O"]])],
    "sequence": ["0", "1"],
    "multilabel": [["x"]],
    "regression": [0.5, 3.0, 5.5],
    "span": [[("pain", 1.0)]],
    "relations": [[["y", "x", "r", "No"]]],
    "mentions": [[[0, 2, "x"]]],
}


@pytest.mark.parametrize("kind", SCORERS)
def test_a_scorer_gives_every_metric_that_a_spec_may_name(kind: str) -> None:
    metrics, counts, _ = SCORERS[kind](GOLD[kind], PREDICTED[kind], "0")
    assert metrics.keys() == {name for one in metrics_of(kind) for name in (one.name, *one.parts)}
    assert all(value == pytest.approx(1.0) for value in metrics.values())
    assert counts["examples"] == len(GOLD[kind])
    json.dumps(metrics, allow_nan=False)


def test_metrics_are_of_known_kinds_and_tasks() -> None:
    assert SCORERS.keys() == TASKS.keys() == {kind for one in METRICS.values() for kind in one.kinds}
    for one in METRICS.values():
        assert set(one.tasks or ()) <= {task for kind in one.kinds for task in TASKS[kind]}
        assert one.label and one.definition and one.source and one.version >= 1


def test_a_metric_is_registered_once() -> None:
    with pytest.raises(ValueError, match="entity_f1 is registered twice"):
        registry.register(METRICS["entity_f1"])


@given(st.lists(st.tuples(NUMBER, NUMBER), min_size=2, max_size=20))
def test_pearson_equals_scipy(scores: list[tuple[float, float]]) -> None:
    gold, predicted = ([pair[side] for pair in scores] for side in (0, 1))
    metrics, *_ = score_correlation(gold, predicted)
    if len(set(gold)) > 1 and len(set(predicted)) > 1:
        expected = float(pearsonr(gold, predicted).statistic)
        assert metrics == pytest.approx({"pearson": expected}, abs=1e-6)
        assert dev_score("pearson", "regression", pairs(*gold), predicted, None) == metrics["pearson"]
    else:
        assert metrics == ({"pearson": 0.0} if len(set(gold)) > 1 else {})
        assert dev_score("pearson", "regression", pairs(*gold), predicted, None) == 0.0


@pytest.mark.parametrize(
    ("gold", "predicted"), [([1.0], [2.0]), ([43.438] * 3, [0.0, 0.0, 1.0]), ([43.438] * 3, [0.5] * 3)]
)
def test_a_correlation_that_is_not_defined_is_left_out(gold: list[float], predicted: list[float]) -> None:
    assert score_correlation(gold, predicted)[:2] == ({}, {"examples": len(gold)})


def test_equal_predictions_have_a_correlation_of_0() -> None:
    """Also in a resampling of documents, so that a collapsed run can be compared with others."""
    for constant in (3.0, 0.0, 0.1):
        metrics, _, contributions = score_correlation([0.0, 1.0, 4.0], [constant] * 3)
        assert metrics == {"pearson": 0.0}
        drawn = np.array([[2.0, 1.0, 0.0], [3.0, 0.0, 0.0]])
        resampled = dict(zip(contributions.names, (drawn @ contributions.values).T, strict=True))
        assert np.array_equal(pearson(resampled), [0.0, math.nan], equal_nan=True)


@pytest.mark.parametrize("gold", [[0.0, 1e-200, 0.0], [1e308, -1e308, 1e308]])
def test_a_correlation_does_not_depend_on_the_scale_of_scores(gold: list[float]) -> None:
    metrics, *_ = score_correlation(gold, [3.0, 4.0, 3.0])
    assert abs(metrics["pearson"]) == pytest.approx(1.0)

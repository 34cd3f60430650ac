"""The scorers of all kinds: which metrics they give, and that specs and versions know these; correlation."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr

from pubmill.examples import (
    Answer,
    MultilabelExample,
    RegressionExample,
    SequenceExample,
    SpanExample,
    TokensExample,
)
from pubmill.finetuning import scores
from pubmill.metrics import SCORERS
from pubmill.metrics.correlation import score_correlation
from pubmill.specs.datasets import METRICS
from pubmill.targets import METRIC_VERSIONS

NUMBER = st.floats(-100, 100).map(lambda value: round(value, 3))
GOLD: dict[str, list[Any]] = {
    "tokens": [TokensExample(id="1", document=None, words=["a", "b"], labels=["B-x", "O"])],
    "sequence": [SequenceExample(id=name, document=None, text="a", label=name) for name in ("0", "1")],
    "multilabel": [MultilabelExample(id="1", document=None, text="a", labels=["x"])],
    "regression": [
        RegressionExample(id=str(n), document=None, text="a", text_pair="b", score=float(n)) for n in (1, 2)
    ],
    "span": [
        SpanExample(id="1", document=None, question="?", context="a", answers=[Answer(text="a", start=0)])
    ],
}
PREDICTED: dict[str, list[Any]] = {
    "tokens": [["B-x", "O"]],
    "sequence": ["0", "1"],
    "multilabel": [["x"]],
    "regression": [0.5, 3.0],
    "span": [[("a", 1.0)]],
}


@pytest.mark.parametrize("kind", SCORERS)
def test_a_scorer_gives_every_metric_that_a_spec_may_name(kind: str) -> None:
    metrics, counts, _ = SCORERS[kind](GOLD[kind], PREDICTED[kind], "0")
    assert metrics.keys() >= set(METRICS[kind])
    assert all(value == pytest.approx(1.0) for value in metrics.values())
    assert counts["examples"] == len(GOLD[kind])
    json.dumps(metrics, allow_nan=False)


def test_kinds_and_metrics_are_the_same_everywhere() -> None:
    assert SCORERS.keys() == METRICS.keys()
    assert METRIC_VERSIONS.keys() == {name for names in METRICS.values() for name in names}


@given(st.lists(st.tuples(NUMBER, NUMBER), min_size=2, max_size=20))
def test_pearson_equals_scipy(pairs: list[tuple[float, float]]) -> None:
    gold, predicted = ([pair[side] for pair in pairs] for side in (0, 1))
    metrics, *_ = score_correlation(gold, predicted)
    if len(set(gold)) > 1 and len(set(predicted)) > 1:
        expected = float(pearsonr(gold, predicted).statistic)
        assert metrics == pytest.approx({"pearson": expected}, abs=1e-6)
        assert scores.pearson(gold, predicted) == pytest.approx(expected, abs=1e-6)
    else:
        assert metrics == {}
        assert scores.pearson(gold, predicted) == 0.0


@pytest.mark.parametrize(
    ("gold", "predicted"),
    [([1.0], [2.0]), ([43.438] * 3, [0.0, 0.0, 1.0]), ([0.0, 1.0], [3.0, 3.0])],
)
def test_a_correlation_that_is_not_defined_is_left_out(gold: list[float], predicted: list[float]) -> None:
    assert score_correlation(gold, predicted)[:2] == ({}, {"examples": len(gold)})


def test_a_wrong_direction_is_negative() -> None:
    metrics, *_ = score_correlation([1.0, 2.0, 3.0], [3.0, 2.0, 1.0])
    assert math.isclose(metrics["pearson"], -1.0)


@pytest.mark.parametrize("gold", [[0.0, 1e-200, 0.0], [1e308, -1e308, 1e308]])
def test_a_correlation_does_not_depend_on_the_scale_of_scores(gold: list[float]) -> None:
    metrics, *_ = score_correlation(gold, [3.0, 4.0, 3.0])
    assert abs(metrics["pearson"]) == pytest.approx(1.0)

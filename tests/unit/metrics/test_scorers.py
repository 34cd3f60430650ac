"""Scorers of all kinds: their metrics, dev scores and versions, and whether one prediction is right.

`tests/attack/scorers.py` compares them with the literature's own scorers."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr

from pubmill.errors import PubmillError
from pubmill.examples.kinds import Answer
from pubmill.examples.tagging import PredictedLabels
from pubmill.metrics import (
    METRICS,
    SCORERS,
    dev_score,
    gold_of,
    is_right,
    metrics_of,
    plain_prediction,
    registry,
)
from pubmill.metrics.classes import pearson, score_correlation
from pubmill.metrics.records import checked_predictions
from pubmill.metrics.registry import NO_PREDICTION
from pubmill.metrics.scorers import PUBLISHED_SCORERS, USED, score_by_all
from pubmill.specs.dataset_specs import TASKS
from tests import stages
from tests.unit.metrics.test_contributions import made_up
from tests.unit.metrics.toy_predictions import (
    EXAMPLES,
    KINDS,
    RELATIONS,
    documents,
    labelled,
    pairs,
    questions,
    tokens,
)


def test_every_metric_is_registered_once_with_its_confirmed_version_and_is_a_scorer() -> None:
    for kind, scorers in PUBLISHED_SCORERS.items():
        names = [one.name for one in scorers]
        assert len(set(names)) == len(names)
        metrics = [one.name for one in metrics_of(kind)]
        assert names[: len(metrics)] == metrics and set(USED.get(kind, {})) <= set(metrics)
        assert all(one.used and one.definition for one in scorers)
    assert set(PUBLISHED_SCORERS) == set(SCORERS)
    assert SCORERS.keys() == TASKS.keys() == {kind for one in METRICS.values() for kind in one.kinds}
    for one in METRICS.values():
        assert set(one.tasks or ()) <= {task for kind in one.kinds for task in TASKS[kind]}
        assert one.label and one.definition and one.source and one.version >= 1
    with pytest.raises(ValueError, match="entity_f1 is registered twice"):
        registry.register(METRICS["entity_f1"])
    _, confirmed = json.loads(stages.STORED.read_text())["score"]["version"]
    assert confirmed == {name: metric.version for name, metric in METRICS.items()}


def scores(
    kind: str, task: str, gold: Sequence[Any], predicted: Sequence[Any], negative: str | None = None
) -> dict[str, float | None]:
    return {one.scorer.name: one.score for one in score_by_all(kind, task, gold, predicted, negative)}


def test_scorers_are_of_their_tasks_and_count_mentions_with_and_without_types() -> None:
    ner, pico = (scores("tokens", task, tokens("B O"), [["B", "O"]]) for task in ("ner", "pico"))
    assert pico.keys() - ner.keys() == {"word_macro_f1", "layers_macro_f1"}
    assert "subtoken_f1" in ner.keys() - pico.keys() and pico["layers_macro_f1"] is None
    # 3 of 7 and 5 mentions are equal without types, 2 with them
    gold = tokens("B-X I-X O B-Y O B-Y O B-Y", "B-X B-X B-Y", "O O")
    predicted = ["B-X O O B-X O I-Y O B-Y", "B-X I-X O", "O O"]
    found = scores("tokens", "ner", gold, [one.split() for one in predicted])
    assert found["entity_f1"] == pytest.approx(2 * 2 / (7 + 5))
    assert found["entity_f1_untyped"] == pytest.approx(2 * 3 / (7 + 5))


@pytest.mark.parametrize(("gold", "predicted", "negative", "macro", "weighted"), [
    ("a a a b 0 0", "a a b b 0 a", "0", 2 / 3, 2 / 3),
    ("a a a b 0 0 0 0", "a a a 0 0 0 0 0", "0", 1 / 2, (3 + 0 + 4 * 8 / 9) / 8),
    ("a b", "a b", None, None, 1.0), ("0 0", "0 0", "0", None, 1.0),
    ("a 0", f"a {NO_PREDICTION}", "0", 1.0, 1 / 2),
])  # fmt: skip
def test_averages_of_relations_with_and_without_the_negative_label(
    gold: str, predicted: str, negative: str | None, macro: float | None, weighted: float
) -> None:
    found = scores("sequence", "relation", labelled(gold.split()), predicted.split(), negative)
    assert found["macro_f1_positive"] == (None if macro is None else pytest.approx(macro))
    assert found["weighted_f1"] == pytest.approx(weighted)


@pytest.mark.parametrize(("gold", "predicted", "whole", "labelled"), [
    (["ab", "a", "b"], ["a", "a", "ab"], 2.5 / 3, None), (["a", "", ""], ["a", "", "b"], None, 1.0),
    (["", ""], ["", ""], None, None),
])  # fmt: skip
def test_documents_without_a_gold_label_are_left_out(
    gold: list[str], predicted: list[str], whole: float | None, labelled: float | None
) -> None:
    found = scores("multilabel", "classification", documents(*gold), [list(labels) for labels in predicted])
    assert found["example_f1"] == (None if whole is None else pytest.approx(whole))
    assert found["example_f1_labelled"] == labelled


NUMBER = st.floats(-100, 100).map(lambda value: round(value, 3))
GOLD: dict[str, list[Any]] = {kind: examples for kind, (examples, *_) in KINDS.items()} | {
    "tokens": [replace(tokens("B-OUT O")[0], layers={"outcomes": [1, 0]})], "sequence": labelled("01"),
    "multilabel": documents("x"), "relations": [replace(RELATIONS[0], relations=[["x", "y", "r", "No"]])],
}  # fmt: skip
PREDICTED: dict[str, list[Any]] = {
    "tokens": [PredictedLabels(["B-OUT", "O"], [["B-OUT", "X"], ["O"]])],
    "sequence": ["0", "1"], "multilabel": [["x"]], "regression": [0.5, 3.0, 5.5], "span": [[("pain", 1.0)]],
    "relations": [[["y", "x", "r", "No"]]], "mentions": [[[0, 2, "x"]]],
}  # fmt: skip


@pytest.mark.parametrize("kind", SCORERS)
def test_a_scorer_gives_every_metric_that_a_spec_may_name(kind: str) -> None:
    metrics, counts, _ = SCORERS[kind](GOLD[kind], PREDICTED[kind], "0")
    assert metrics.keys() == {name for one in metrics_of(kind) for name in (one.name, *one.parts)}
    assert all(value == pytest.approx(1.0) for value in metrics.values())
    assert counts["examples"] == len(GOLD[kind])
    json.dumps(metrics, allow_nan=False)


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


CHOOSING = [(name, kind) for name, one in METRICS.items() if one.chooses for kind in one.kinds]


def ranked(*texts: str) -> list[tuple[str, float]]:
    return [(text, 1 / number) for number, text in enumerate(texts, 1)]


@pytest.mark.parametrize(("metric", "kind"), CHOOSING)
@given(seed=st.integers(0, 10**6))
def test_a_dev_score_is_the_metric_of_the_record(metric: str, kind: str, seed: int) -> None:
    gold, predicted = made_up(kind, seed, 8)
    recorded = SCORERS[kind](gold, predicted, "0").metrics
    if metric in recorded:
        assert dev_score(metric, kind, gold, predicted, "0") == recorded[metric]


def test_nothing_found_where_there_is_nothing_and_equal_scores_are_zero() -> None:
    assert dev_score("entity_f1", "tokens", tokens("O"), [["O"]], None) == 0.0
    assert dev_score("word_macro_f1", "tokens", tokens("O"), [["B"]], None) == 0.0
    assert dev_score("micro_f1", "sequence", labelled(["0"]), ["0"], "0") == 0.0
    for metric in ("micro_f1", "macro_f1", "example_f1"):
        assert dev_score(metric, "multilabel", documents([]), [[]], None) == 0.0
    for equal in (3.0, 0.0):
        assert dev_score("pearson", "regression", pairs(1.0, 2.0), [equal] * 2, None) == 0.0
        assert dev_score("pearson", "regression", pairs(1.0), [equal], None) == 0.0


@pytest.mark.parametrize(("metric", "kind", "gold", "predicted", "expected"), [
    ("positive_f1", "sequence", labelled(["1", "1"]), ["1", "1"], 1.0),
    ("example_f1", "multilabel", documents(["a"], [], ["a", "b"]), [["a"], ["b"], ["a"]],
     2 * 1.0 * 0.75 / 1.75),
    ("mrr", "span", questions([], ["p53", "tp53"], ["Wnt"]),
     [ranked("p53"), ranked("Wnt", "TP53"), ranked("a", "b", "c", "d", "e", "wnt")], (0 + 1 / 2 + 0) / 3),
])  # fmt: skip
def test_what_dev_does_not_define_leaves_the_others_their_score(
    metric: str, kind: str, gold: list[Any], predicted: list[Any], expected: float
) -> None:
    """The record has no such metric then; weights are chosen by the examples that define it."""
    assert metric not in SCORERS[kind](gold, predicted, "0").metrics
    assert math.isclose(dev_score(metric, kind, gold, predicted, "0"), expected)


def test_unequal_lengths_and_metrics_without_a_dev_score_are_refused() -> None:
    with pytest.raises(PubmillError):
        dev_score("entity_f1", "tokens", tokens("O"), [["O", "O"]], None)
    for metric, kind, gold in (
        ("accuracy", "sequence", labelled(["a"])), ("micro_f1", "multilabel", documents(["a"])),
        ("mrr", "span", questions(["a"])),
    ):  # fmt: skip
        with pytest.raises(ValueError):
            dev_score(metric, kind, gold, [], None)
    with pytest.raises(AssertionError, match="exact_match has no dev score"):
        dev_score("exact_match", "span", questions(["a"]), [ranked("a")], None)


def test_all_labels_of_words_must_be_right_and_the_first_answer_any_of_the_gold() -> None:
    [words], [text], [labels] = tokens("B O"), labelled("x"), documents("xy")
    assert is_right(words, ["B", "O"]) and not is_right(words, ["B", "I"])
    assert is_right(text, "x") and not is_right(text, "y")
    assert is_right(labels, ["x", "y"]) and not is_right(labels, ["x"])
    answers = [Answer(text="Gene", start=2)]
    question = replace(questions(["p53", "Gene"])[0], context="a Gene here", answers=answers)
    assert gold_of(question) == ["Gene", "p53"]
    assert is_right(question, ["gene", "x"]) and is_right(question, ["P53"])
    assert not is_right(question, ["x", "Gene"])
    row = {"id": "test-000002", "labels": ["B", "I", "O"], "subword_labels": [["B"], ["I", "X"], ["O"]]}
    [read] = checked_predictions([row], EXAMPLES[1:], "x", "y")
    assert is_right(EXAMPLES[1], plain_prediction(read))


@pytest.mark.parametrize("kind", KINDS)
def test_gold_that_is_read_as_a_prediction_is_right(kind: str) -> None:
    examples, _, key = KINDS[kind]
    rows: list[dict[str, Any]] = [{"id": one.id, key: gold_of(one)} for one in examples]
    for row in rows if kind == "span" else ():
        row[key] = [{"text": text, "probability": 1.0} for text in row[key]]
    read = checked_predictions(rows, examples, "x", "y")
    assert all(is_right(one, plain_prediction(said)) for one, said in zip(examples, read, strict=True))


@pytest.mark.parametrize("kind", ["multilabel", "regression", "relations", "mentions"])
def test_other_predictions_are_wrong(kind: str) -> None:
    examples, predicted, _ = KINDS[kind]
    assert not is_right(examples[-1], plain_prediction(predicted[-1]))

"""Single values of rows as predictions of pubmill's own form."""

from types import SimpleNamespace
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.predictions.alignment import FURTHEST, place_words
from pubmill.predictions.predictions import Normaliser, is_constant
from pubmill.predictions.rows import PredictedSpan, PredictionRow
from pubmill.recipes.submissions import SubmissionRecipe


def normaliser(kind: str, labels: tuple[str, ...] = ("a", "b"), **changes: Any) -> Normaliser:
    fixed: dict[str, Any] = {"access": "public", "split": "test", "metric": "x", "negative": None}
    optional: dict[str, Any] = {"dummies": None, "form": None, "mapping": {}, "system": None}
    return Normaliser(
        SubmissionRecipe(dataset="d", kind=kind, labels=labels, **(fixed | optional | changes))  # type: ignore[arg-type]
    )


def made(kind: str, key: str, value: Any, words: str = "", **changes: Any) -> Any:
    """Return the prediction that a row becomes."""
    row = PredictionRow(where="f:1", id="1", key=key, value=value)  # type: ignore[arg-type]
    example = SimpleNamespace(id="1", words=words.split(), labels=[], context="", items=[])
    [line] = normaliser(kind, **changes).rows([row], [example])
    return {name: value for name, value in line.items() if name != "id"}


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("score", 3, 3.0), ("prediction", "4.", 4.0), ("prediction", "-1e2", -100.0), ("output", "2.5.", 2.5),
        ("score", True, None), ("score", "high", None), ("prediction", ".5", None),
        ("prediction", "1e999", None), ("prediction", " 3", None), ("score", None, None),
        ("score", float("inf"), None), ("prediction", "1_0", None),
    ],
)  # fmt: skip
def test_scores_are_finite_numbers(key: str, value: Any, expected: float | None) -> None:
    if expected is not None:
        assert made("regression", key, value) == {"score": expected}
        return
    with pytest.raises(PubmillError, match="f:1: expected a finite number"):
        made("regression", key, value)


@pytest.mark.parametrize(
    ("kind", "key", "value", "expected"),
    [
        ("multilabel", "labels", ["b", "a"], {"labels": ["a", "b"]}),
        ("multilabel", "prediction", "b|a", {"labels": ["a", "b"]}),
        ("multilabel", "prediction", "", {"labels": []}),
        ("multilabel", "labels", ["a", "a"], "f:1: a label occurs twice"),
        ("multilabel", "label", "a", "f:1: expected a list of labels"),
        ("multilabel", "prediction", 3, "f:1: expected a list of labels"),
        ("sequence", "label", "a", {"label": "a"}),
        ("sequence", "prediction", "b", {"label": "b"}),
        ("sequence", "labels", ["a"], "f:1: expected one label"),
        ("sequence", "prediction", ["a"], "f:1: expected one label"),
        ("sequence", "label", "c", "f:1: 1 label that the dataset lacks: c; it has a, b"),
        ("span", "output", " x ", {"answers": [{"text": "x", "probability": 1.0}]}),
        ("span", "prediction", "x", {"answers": [{"text": "x", "probability": 1.0}]}),
        ("span", "label", "x", "f:1: expected answers"),
        ("relations", "prediction", [["x", "y", "b"], ["w", "x", "a", "No"]],
         {"relations": [["w", "x", "a", "No"], ["x", "y", "b"]]}),
        ("relations", "output", "a: x | y\nnothing else\n", {"relations": [["x", "y", "a"]]}),
        ("relations", "output", '{"relations": ["b: x | y"]}', {"relations": [["x", "y", "b"]]}),
        ("relations", "output", "None.", {"relations": []}),
        ("relations", "output", "x and y", "f:1: 1 of 1 answers have no mapping"),
        ("relations", "prediction", [["x", "y"]], "f:1: expected a list: relations must be"),
        ("relations", "prediction", [["x", "y", "c"]], "1 label that the dataset lacks: c"),
    ],
)  # fmt: skip
def test_values_of_a_kind(kind: str, key: str, value: Any, expected: Any) -> None:
    if not isinstance(expected, str):
        assert made(kind, key, value) == expected
        return
    with pytest.raises(PubmillError, match=expected):
        made(kind, key, value)


def test_labels_of_words_are_those_of_the_dataset_or_mapped() -> None:
    assert made("tokens", "labels", ["S-a", "O"], "x y") == {"labels": ["B-a", "O"]}
    assert made("tokens", "prediction", ["O", "B-c"], "x y", mapping={"c": "b"}) == {"labels": ["O", "B-b"]}
    assert made("tokens", "labels", ["B-c", "I-c"], "x y", labels=("",), mapping={"c": ""}) == {
        "labels": ["B", "I"]
    }
    for value, message in (
        (["B-a", 3], "expected a list of mentions"),
        (["B-a", "X"], "expected BIO labels or `mentions`; found X"),
        ("B-a O", "expected a list of mentions"),
        ([0, 1], "numbers in place of labels"),
    ):
        with pytest.raises(PubmillError, match=f"f:1: {message}"):
            made("tokens", "prediction", value, "x y")
    with pytest.raises(PubmillError, match="f:1: 1 labels for the 2 words of 1"):
        made("tokens", "labels", ["O"], "x y")


def test_every_occurrence_of_a_named_mention_counts() -> None:
    mapping = {"a": "a", "drug": "b", "none": ""}
    line = made("tokens", "output", "Drug: flu\nnone", "flu and flu", mapping=mapping)
    assert line == {"labels": ["B-b", "O", "B-b"]}
    one = {"labels": ("a",), "mapping": {"a": "a"}}
    assert made("tokens", "output", "flu", "flu and x:y", **one) == {"labels": ["B-a", "O", "O"]}
    assert made("tokens", "output", "x:y", "flu and x:y", **one) == {"labels": ["O", "O", "B-a"]}
    assert place_words("x" * FURTHEST + "word", ["word"]) == [(FURTHEST, FURTHEST + 4)]
    assert place_words("x" * (FURTHEST + 1) + "word", ["word"]) == [None]


def test_predictions_are_constant_by_their_meaning() -> None:
    assert is_constant([{"id": "1", "labels": ["O"]}, {"id": "2", "labels": ["O", "O"]}])
    assert not is_constant([{"id": "1", "labels": ["O"]}, {"id": "2", "labels": ["B"]}])
    assert is_constant([{"id": "1", "labels": ["x"]}, {"id": "2", "labels": ["x"]}])
    assert not is_constant([{"id": "1", "score": 1.0}, {"id": "2", "score": 2.0}])
    assert is_constant([{"id": "1", "label": "a", "subword_labels": [1]}, {"id": "2", "label": "a"}])


def test_mentions_that_nest_stay_and_lists_are_whole() -> None:
    spans = [PredictedSpan(0, 8, "a"), PredictedSpan(4, 8, "b"), PredictedSpan(0, 3, "a")]
    found = made("mentions", "mentions", spans, words="old gene x")
    assert found == {"mentions": [[0, 1, "a"], [0, 2, "a"], [1, 2, "b"]]}
    with pytest.raises(PubmillError, match="2 of 2 spans begin or end inside"):
        made("mentions", "mentions", [PredictedSpan(1, 3, "a"), PredictedSpan(0, 5, "b")], words="old gene")
    row = PredictionRow(where="f:1", id="1", key="answers", value=[("x", 1.0), ("y", 0.5)])
    example = SimpleNamespace(id="1", words=[], context="", items=[["x"], ["z"]])
    [line] = normaliser("span").rows([row], [example])
    assert [one["probability"] for one in line["answers"]] == [1.0, 1.0]

"""`score` with examples and gold in the containers that people have."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from pubmill import score
from pubmill.errors import PubmillError
from pubmill.examples.arrow_tables import to_table
from pubmill.examples.kinds import KINDS, TokensExample
from tests.unit import toy_examples as toy

GOLD = {"ner": "labels", "rel": "label", "doc": "labels", "sim": "score"}
NEGATIVE = {"rel": "none"}


def predictions(name: str) -> list[Any]:
    """The gold of the next example, which is sometimes right."""
    if name == "qa":
        return [[(f"gene{number % 4}", 1.0)] for number in range(1, 13)]
    gold = [getattr(one, GOLD[name]) for one in toy.examples(name)]
    if name == "ner":
        return [list(reversed(labels)) for labels in gold]
    return gold[1:] + gold[:1]


@pytest.mark.parametrize("name", toy.KINDS)
def test_examples_are_scored_alike_in_every_container(name: str) -> None:
    datasets = pytest.importorskip("datasets")
    examples, predicted, negative = toy.examples(name), predictions(name), NEGATIVE.get(name)
    expected = score(examples, predicted, negative)
    table = to_table(examples, KINDS[toy.KINDS[name]])
    for container in (datasets.Dataset(table), table.to_pandas(), table.to_pylist()):
        assert score(container, predicted, negative) == expected
    assert score(examples, pd.Series(predicted), negative) == expected
    if name != "qa":
        column = datasets.Dataset(table)[GOLD[name]]
        assert score(examples, datasets.Dataset.from_dict({"p": predicted})["p"], negative) == expected
        found = score(column, predicted, negative)
        assert {
            metric: expected[metric] for metric in found
        } == found  # documents are unknown without examples


@pytest.mark.parametrize(("gold", "predicted", "options", "metric", "value"), [
    (["a", "b", "a"], ["a", "a", "a"], {}, "accuracy", 2 / 3),
    (np.array([0, 1, 1]), pd.Series([0, 1, 0]), {"negative": "0"}, "micro_f1", 2 / 3),
    (np.array([0.5, 1.0, 2.0]), [1.0, 2.0, 4.0], {}, "pearson", 1.0),
    ([0, 1, 3], [0, 2, 6], {"kind": "regression"}, "pearson", 1.0),
    ([["B", "I"], ["O"]], [["B", "I"], ["B"]], {}, "entity_f1", 2 / 3),
    ([["x", "y"], []], [{"y"}, ["x"]], {}, "micro_f1", 0.5),
    ([["B"], ["B"]], [["B"], ["O"]], {"kind": "multilabel"}, "micro_f1", 0.5),
])  # fmt: skip
def test_gold_alone_is_enough(
    gold: Any, predicted: Any, options: dict[str, Any], metric: str, value: float
) -> None:
    assert score(gold, predicted, **options)[metric] == pytest.approx(value)


@pytest.mark.parametrize(("gold", "predicted", "options", "message"), [
    (["a"], ["a", "b"], {}, "1 examples but 2 predictions"),
    ("aab", ["a"], {}, "expected a list, a split, a data frame, or the like, found str"),
    (["a"], 5, {}, "found int"),
    ([0.5], ["a"], {"kind": "sequence"}, "gold 0: 0.5 is none of kind sequence; questions need"),
    ([["a"], [0.5]], [["a"], []], {"kind": "multilabel"}, "gold 1: .0.5. is none of kind multilabel"),
    (["x"], [1.0], {"kind": "regression"}, "gold 0: 'x' is none of kind regression"),
    ([], [], {}, "examples of 0 kinds"),
    ([{"words": ["a"], "tags": ["O"]}], [["O"]], {}, "rows with the columns words, tags are no examples; "),
    ([{"words": ["a"], "labels": ["X"]}], [["O"]], {}, "labels must be a list of BIO labels"),
    (["a", 0.5], ["a", "b"], {}, "gold of the types float, str; expected labels"),
    (["a"], ["a"], {"kind": "span"}, "gold 0: 'a' is none of kind span"),
    (["a"], ["a"], {"kind": "tags"}, "there is no kind 'tags'; the nearest: "),
    ([["B"]], ["B"], {}, "prediction 0: 'B' is none of O, B, I"),
    ([0.5, 1.0], [0.5, "x"], {}, "prediction 1: 'x' is no number"),
    (["a"], [["a"]], {}, r"prediction 0: \['a'\] is no label"),
    ([["x"]], ["x"], {}, "prediction 0: 'x' is no list of labels"),
])  # fmt: skip
def test_what_cannot_be_scored_is_refused(
    gold: Any, predicted: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(PubmillError, match=message):
        score(gold, predicted, **options)


def test_a_layer_that_some_rows_lack_is_no_layer_of_them() -> None:
    words = {"words": ["a", "b"], "labels": ["B", "O"]}
    rows = [{**words, "layers": {"outer": [1, 0], "inner": None}}, {**words, "layers": None}]
    gold = [TokensExample(id="1", document=None, words=["a", "b"], labels=["B", "O"], layers=layers)
            for layers in ({"outer": [1, 0]}, {})]  # fmt: skip
    predicted = [["B", "O"], ["B", "I"]]
    assert score([rows[0], words], predicted) == score(gold, predicted)

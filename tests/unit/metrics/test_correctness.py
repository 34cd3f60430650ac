"""Whether a single prediction is right in every part."""

from typing import Any

import pytest

from pubmill.examples.kinds import Answer, SpanExample
from pubmill.metrics import gold_of, is_right, plain_prediction
from pubmill.metrics.records import checked_predictions
from tests.unit.metrics.toy_predictions import EXAMPLES, KINDS, documents, labelled, tokens


def test_labels_must_all_be_right() -> None:
    [words], [text], [labels] = tokens("B O"), labelled("x"), documents("xy")
    assert is_right(words, ["B", "O"]) and not is_right(words, ["B", "I"])
    assert is_right(text, "x") and not is_right(text, "y")
    assert is_right(labels, ["x", "y"]) and not is_right(labels, ["x"])


def test_the_first_answer_may_be_any_of_the_gold() -> None:
    question = SpanExample(
        id="1", document=None, question="q", context="a Gene here", answers=[Answer(text="Gene", start=2)],
        golds=["p53", "Gene"],
    )  # fmt: skip
    assert gold_of(question) == ["Gene", "p53"]
    assert is_right(question, ["gene", "x"]) and is_right(question, ["P53"])
    assert not is_right(question, ["x", "Gene"])


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


def test_labels_of_subwords_are_left_out() -> None:
    row = {"id": "test-000002", "labels": ["B", "I", "O"], "subword_labels": [["B"], ["I", "X"], ["O"]]}
    [read] = checked_predictions([row], EXAMPLES[1:], "x", "y")
    assert is_right(EXAMPLES[1], plain_prediction(read))

"""Single values of submissions: ranked answers, spans, lines with two columns, batches of hosted models."""

import json
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.predictions.json_forms import answers_of, read_batch, read_document, row_of, spans_of
from tests.unit.predictions import toy_datasets as toy


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("one", [("one", 1.0)]),
        (["one", "two"], [("one", 1.0), ("two", 0.5)]),
        ({"text": "one", "probability": 1}, [("one", 1.0)]),
        ([{"text": "a", "probability": 1.0}, {"text": "b", "probability": 0}], [("a", 1.0), ("b", 0.0)]),
    ],
)
def test_answers_are_ranked(value: Any, expected: list[tuple[str, float]]) -> None:
    assert answers_of(value, "line 1") == expected


@pytest.mark.parametrize(
    "value",
    [
        [], [1], None, ["one", 2],
        {"text": 1, "probability": 0.5}, {"text": "a"}, [{"probability": 0.5}, 3],
        {"text": "a", "probability": True}, {"text": "a", "probability": "0.5"},
        {"text": "a", "probability": -0.1}, {"text": "a", "probability": 1.1},
        {"text": "a", "probability": float("nan")},
        [{"text": "a", "probability": 0.1}, {"text": "b", "probability": 0.2}],
    ],
)  # fmt: skip
def test_other_answers_are_refused(value: Any) -> None:
    with pytest.raises(PubmillError, match="line 1: expected an answer"):
        answers_of(value, "line 1")


def test_spans_have_a_type_or_a_label_or_neither() -> None:
    given = [
        {"start": 0, "end": 1, "type": "A"}, {"start": 1, "end": 3, "label": "B"}, {"start": 4, "end": 5},
    ]  # fmt: skip
    assert spans_of(given, "line 1") == [(0, 1, "A"), (1, 3, "B"), (4, 5, "")]
    texts = ["flu", {"text": "flu", "type": "A"}]
    assert spans_of(texts, "line 1") == [("flu", ""), ("flu", "A")]


@pytest.mark.parametrize(
    "value",
    [
        None, [3], [{"start": 0}], [{"start": 0, "end": 1.0}], [{"start": True, "end": 2}],
        [{"start": 1, "end": 1}], [{"text": "a", "end": 1}], [{"text": 1}], [{"text": "a", "type": 1}],
        [{"start": -1, "end": 1}], [{"start": 0, "end": 1, "type": 3}],
        [{"start": 0, "end": 1}, {"start": 2, "end": 1}],
        [{"start": 4, "end": 7, "labels": [{"value": "A"}, {"value": "B"}]}],
        [{"start": 4, "end": 7, "labels": []}], [{"start": 4, "end": 7, "type": None}],
        [{"start": None, "end": None, "entity_group": "A"}], [{"start_char": 4, "text": "flu", "type": "A"}],
    ],
)  # fmt: skip
def test_other_spans_are_refused(value: Any) -> None:
    with pytest.raises(PubmillError, match="line 1: expected a list of mentions"):
        spans_of(value, "line 1")


def test_a_row_has_its_input_and_what_is_beside_it() -> None:
    values = {"example_id": 7, "output": "yes", "dataset": "rel", "text": "a", "text_pair": None}
    more = {"words": ["a"], "context": "c", "question": "q", "subword_labels": [1]}
    row = row_of(values | more, "f:1")
    assert (row.where, row.id, row.key, row.value, row.dataset) == ("f:1", "7", "output", "yes", "rel")
    assert (row.text, row.texts, row.words) == ("a", ("q", "c"), ["a"])
    assert row.beside == {"subword_labels": [1]}
    bare = row_of({"prediction": 3}, "f:2")
    assert (bare.id, bare.value, bare.text, bare.texts, bare.words) == (None, 3, None, (), None)
    assert bare.beside == {}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([], "expected an object with an id and a prediction"),
        ({"id": True, "label": "a"}, "the id must be a string"),
        ({"id": "1"}, "exactly one prediction .*found none"),
        ({"id": "1", "label": "a", "score": 1}, "found label, score"),
        ({"id": "1", "label": "a", "lable": "b"}, "unknown key lable; "),
        ({"id": "1", "label": "a", "reference": "b"}, "the key reference holds gold labels"),
        ({"label": "a", "words": ["a", 1]}, "`words` must be a list of strings"),
        ({"label": "a", "text": 3}, "`text` must be a string"),
        ({"label": "a", "dataset": 3}, "`dataset` must be a string"),
        ({"label": 3.5}, "`label` must be a string"),
        ({"output": None}, "`output` must be a string"),
        ({"ner_tags": [0, 1]}, "numbers in place of labels"),
        ({"labels": "a"}, "`labels` must be a list of strings"),
    ],
)
def test_other_rows_are_refused(row: Any, message: str) -> None:
    with pytest.raises(PubmillError, match=f"^f:1: .*{message}"):
        row_of(row, "f:1")


def test_documents_are_lists_or_objects_perhaps_below_predictions() -> None:
    rows = [{"id": "a", "label": "x"}, {"id": "b", "label": "y"}]
    for content in (rows, {"predictions": rows}):
        found = list(read_document(content, "f"))
        assert [(one.where, one.id, one.value) for one in found] == [
            ("f: item 1", "a", "x"), ("f: item 2", "b", "y"),
        ]  # fmt: skip
    bare, whole = read_document({"a": 3, "b": {"label": "y"}}, "f")
    assert (bare.where, bare.id, bare.key, bare.value) == ("f: a", "a", "prediction", 3)
    assert (whole.where, whole.id, whole.key, whole.value) == ("f: b", "b", "label", "y")
    with pytest.raises(PubmillError, match="f: expected a list of objects, or an object"):
        list(read_document(3, "f"))


def _chat(name: str, text: str, end: str = "stop") -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": end}
    response = {"status_code": 200, "body": {"object": "chat.completion", "choices": [choice]}}
    return {"id": "batch_req_1", "custom_id": name, "response": response, "error": None}


def test_answers_of_a_batch_are_scored(tmp_path: Path) -> None:
    toy.make(tmp_path, "rel")
    rows = [_chat(one.id, str(toy.gold(one))) for one in toy.examples("rel")]
    rows[1] = _chat(rows[1]["custom_id"], "activates because", "length")
    found = toy.score(tmp_path, "rel", rows[::-1], mapping={label: label for label in toy.LABELS})
    assert found.submission.form == "batch" and found.metrics["accuracy"] == pytest.approx(11 / 12)
    assert found.summary()["read_by_rule"] == {"cut": 1}
    assert "1 of 12 answers were cut off at the limit of their length" in found.left_aside()


@pytest.mark.parametrize(
    "row",
    [
        {"custom_id": "7", "response": None, "error": {"code": "expired"}},
        {"custom_id": "7", "response": {"status_code": 500, "body": {"error": {"message": "x"}}}},
        {"custom_id": "7", "result": {"type": "errored", "error": {"type": "overloaded"}}},
        _chat("7", "a") | {"response": {"body": {"choices": [{}, {}]}}},
        _chat("7", "a") | {"response": [3]},
        _chat("7", None),  # type: ignore[arg-type]
    ],
)
def test_a_failed_request_is_refused_with_its_id(row: dict[str, Any]) -> None:
    with pytest.raises(PubmillError, match=r"f:2: 7: .*Nothing was scored"):
        list(read_batch([json.dumps(_chat("6", "a")), json.dumps(row)], "f"))
    for line in ('{"id": "7"}', '{"custom_id": 7}', "[3]", '{"key": "7"}'):
        with pytest.raises(PubmillError, match="f:1: expected an"):
            list(read_batch([line], "f"))

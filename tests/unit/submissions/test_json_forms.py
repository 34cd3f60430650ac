"""Single values of submissions: ranked answers, spans, lines with two columns, and cells of inputs."""

from typing import Any

import pytest

from pubmill.annotation.examples import SequenceExample
from pubmill.errors import PubmillError
from pubmill.submissions import conll_form, inputs_without_gold
from pubmill.submissions.json_forms import answers_of, spans_of


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
        {"start": 0, "end": 1, "type": "A"},
        {"start": 1, "end": 3, "label": "B"},
        {"start": 4, "end": 5},
    ]
    found = [(one.start, one.end, one.type) for one in spans_of(given, "line 1")]
    assert found == [(0, 1, "A"), (1, 3, "B"), (4, 5, "")]


@pytest.mark.parametrize(
    "value",
    [
        None, [3], [{"start": 0}], [{"start": 0, "end": 1.0}], [{"start": True, "end": 2}],
        [{"start": 1, "end": 1}], [{"start": -1, "end": 1}], [{"start": 0, "end": 1, "type": 3}],
        [{"start": 0, "end": 1}, {"start": 2, "end": 1}],
    ],
)  # fmt: skip
def test_other_spans_are_refused(value: Any) -> None:
    with pytest.raises(PubmillError, match="line 1: expected a list of mentions"):
        spans_of(value, "line 1")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("word", "expected a word and its label"),
        ("\tB-Chem", "expected a word and its label"),
        ("word\t", "expected a label of IOB"),
        ("word\tno label", "expected a label of IOB"),
    ],
)
def test_a_line_without_word_or_label_is_refused(line: str, message: str) -> None:
    with pytest.raises(PubmillError, match=f"line 7: {message}"):
        conll_form._parse(line, "line 7")


def test_a_word_and_the_last_of_its_columns() -> None:
    assert conll_form._parse("word\tNN\tB-Chem", "line 7") == ("word", "B-Chem")
    assert conll_form._parse("word NN O", "line 7") == ("word", "O")


def test_both_texts_of_a_pair_are_cells_and_an_absent_one_is_empty() -> None:
    pairs = [
        SequenceExample(id=name, document=None, text=f"text {name}", text_pair=pair, label="yes")
        for name, pair in (("1", "its pair"), ("2", None))
    ]
    header, *lines = (line.rstrip("\n").split("\t") for line in inputs_without_gold._tsv(pairs))
    assert header == ["id", "text", "text_pair", "prediction"]
    assert [line[:3] for line in lines] == [["1", "text 1", "its pair"], ["2", "text 2", ""]]

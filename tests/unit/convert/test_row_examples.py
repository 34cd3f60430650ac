"""Rows of any keys: examples of each kind, and what a wrong row or option says."""

import json
from collections.abc import Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pytest

from pubmill.convert.row_examples import lettered, multilabel, regression, sequence, span, tokens
from pubmill.convert.source_files import ConverterInput, SpecError
from pubmill.errors import PubmillError
from pubmill.examples.kinds import Answer, MultilabelExample, SequenceExample, SpanExample, TokensExample
from pubmill.messages.quotations import withholding
from tests.clinical import given
from tests.world.part import CANARY

OPTIONS = {"question": "ask", "context": "text", "answers": "right", "document": "pmid"}
ROW = {
    "ask": "What helps?", "text": "Aspirin helps.", "pmid": 7,
    "right": {"text": ["Aspirin", "Asp"], "answer_start": [0, 0]},
}  # fmt: skip
TEXTS: dict[str, Any] = {"text": "body", "label": "kind", "labels": {"1": "yes", "0": "no"}}
LICENSED = {"id": "pairID", "text": "one", "text_pair": "two", "label": "gold", "labels": ["neutral"]}
PAIR = {"pairID": "a-1", "one": f"{CANARY} A\tb", "two": "B", "gold": "neutral", "more": [1]}


def source(folder: Path, rows: Sequence[dict[str, Any]], options: dict[str, Any]) -> ConverterInput:
    path = folder / "train.jsonl"
    path.write_text(json.dumps(rows))
    return given("train", {"train": path}, **options)


def convert(folder: Path, *rows: dict[str, Any]) -> list[SpanExample]:
    return list(span(source(folder, rows, OPTIONS)))


def test_questions_have_all_their_answers(tmp_path: Path) -> None:
    assert convert(tmp_path, ROW, ROW | {"right": {"text": [], "answer_start": []}}) == [
        SpanExample(
            id=f"train-{number:06d}", document="7", question="What helps?", context="Aspirin helps.",
            answers=answers,
        )
        for number, answers in ((1, [Answer(text="Aspirin", start=0), Answer(text="Asp", start=0)]), (2, []))
    ]  # fmt: skip


@pytest.mark.parametrize(("change", "expected"), [
    *(({"right": wrong}, "'right' with the lists") for wrong in (
        ["Aspirin"], {"text": ["Aspirin"]}, {"text": "A", "answer_start": [0]},
        {"text": ["A"], "answer_start": "0"}, {"text": ["A", "B"], "answer_start": [0]},
    )),
    ({"text": ""}, "'text' with a text that isn't empty"),
    ({"text": None}, "'text' with a text that isn't empty"),
    ({"ask": " "}, "'ask' with a text that isn't empty"),
])  # fmt: skip
def test_a_row_that_lacks_something_is_named(tmp_path: Path, change: dict[str, Any], expected: str) -> None:
    with pytest.raises(PubmillError, match=rf"train\.jsonl.*2.*expected the key {expected}"):
        convert(tmp_path, ROW, ROW | change)


def texts(folder: Path, *rows: dict[str, Any], **options: Any) -> list[SequenceExample]:
    return list(sequence(source(folder, rows, {**TEXTS, **options})))


def test_values_may_be_numbers_or_booleans_and_control_characters_become_blanks(tmp_path: Path) -> None:
    rows = [{"body": body, "kind": kind} for body, kind in (("a\tb", 1), ("c", False), ("d", "1"))]
    found = texts(tmp_path, *rows)
    assert [(one.id, one.text, one.label) for one in found] == [
        ("train-000001", "a b", "yes"), ("train-000002", "c", "no"), ("train-000003", "d", "yes"),
    ]  # fmt: skip
    assert {(one.document, one.text_pair) for one in found} == {(None, None)}
    [named] = texts(tmp_path, {"body": "a", "kind": 1, "n": {"id": 9}, "of": "x"}, id="n.id", document="of")
    assert (named.id, named.document) == ("9", "x")


@pytest.mark.parametrize("value", ["", None, 1.5, ["1"]])
def test_other_values_are_refused(tmp_path: Path, value: Any) -> None:
    with pytest.raises(PubmillError) as caught:
        texts(tmp_path, {"body": "a", "kind": value})
    assert str(caught.value).endswith(": expected the key 'kind' with a string or an integer")


def test_wrong_labels_ids_and_missing_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match=r"expected a label of \['1', '0'\], found '2'"):
        texts(tmp_path, {"body": "a", "kind": "2"})
    rows = [{"body": "a", "kind": 1, "n": number} for number in (1, 2, 1)]
    assert len(texts(tmp_path, *rows, id="n")) == 3
    with pytest.raises(SpecError) as caught:
        list(sequence(source(tmp_path, [], {"text": "a"})))
    assert str(caught.value) == (
        "the converter's options lack ['label', 'labels'], and [] are unknown; its options are text, label, "
        "labels, text_pair, choices, id, document, record, split_column, split_values"
    )


@pytest.mark.parametrize(("options", "message"), [
    ({"labels": []}, r"the converter's option `labels` is \[\]; give a list of all labels, or a mapping"),
    ({"labels": {}}, "option `labels` is {}"), ({"labels": "1"}, "option `labels` is '1'"),
    ({"labels": [1]}, r"option `labels` is \[1\]"),
    ({"labels": {"1": ""}}, "option `labels` is {'1': ''}"),
    ({"text_pair": "b", "choices": "c"}, "has the options `text_pair` and `choices`; give one of them"),
    ({"other": 1, "more": 2}, r"lack \[\], and \['more', 'other'\] are unknown; its options are text"),
])  # fmt: skip
def test_wrong_options_are_named(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        texts(tmp_path, {"body": "a", "kind": 1}, **options)


def test_rows_may_name_their_split_and_a_split_may_be_several_files(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [{"body": part, "kind": 1, "part": part} for part in ("a", "b", "a", "c")]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = {**TEXTS, "split_column": "part", "split_values": {"a": "train", "b": "dev", "c": "none"}}

    def of(split: str, **changes: Any) -> list[tuple[str, str]]:
        found = sequence(given(split, {"rows": path}, **{**options, **changes}))
        return [(one.id, one.text) for one in found]

    assert of("train") == [("train-000001", "a"), ("train-000002", "a")]
    assert of("dev") == [("dev-000001", "b")] and of("test") == []
    for values in ({"a": "train", "b": "dev"}, ["a", "b", "c"], None):
        with pytest.raises(PubmillError, match="the split '?[ac]'? is not in the option `split_values`"):
            of("train", split_values=values)
    inputs = {}
    for role in ("dev", "train", "train_2"):
        inputs[role] = tmp_path / f"{role}.jsonl"
        inputs[role].write_text(json.dumps({"body": role, "kind": 1}) + "\n")
    assert [one.text for one in sequence(given("train", inputs, **TEXTS))] == ["train", "train_2"]
    with pytest.raises(SpecError, match="needs a source 'test'; the spec's sources are dev, train, train_2"):
        list(sequence(given("test", inputs, **TEXTS)))


@pytest.mark.parametrize(("choices", "named"), [
    ({"A": "one\n1", "B": "two"}, "of"), (["one\n1", "two"], "of"), ("one\n1", ["of", "to"]),
])  # fmt: skip
def test_the_label_of_a_choice_is_its_letter_or_its_text(tmp_path: Path, choices: Any, named: Any) -> None:
    options = {"choices": named, "labels": ["A", "B"]}
    row = {"body": "Which?", "of": choices, "to": "two"}
    found = texts(tmp_path, row | {"kind": "B"}, row | {"kind": "one 1"}, **options)
    assert [one.label for one in found] == ["B", "A"]
    assert {one.text_pair for one in found} == {"(A) one 1 (B) two"}
    with pytest.raises(PubmillError, match=r"the key 'kind' with one of the choices \(A, B\) or the text of"):
        texts(tmp_path, row | {"kind": "three"}, **options)


@pytest.mark.parametrize("choices", [["one"], {"A": "one"}, ["one", " "], ["one", 2], "one", ["x"] * 27])
def test_at_least_two_texts_are_choices(tmp_path: Path, choices: Any) -> None:
    with pytest.raises(PubmillError, match="the key 'of' with at least two texts, as a list or by letters"):
        texts(tmp_path, {"body": "a", "kind": "A", "of": choices}, choices="of", labels=["A", "B"])
    assert lettered(["x"] * 26) == dict.fromkeys(ascii_uppercase, "x")


def several(folder: Path, *rows: dict[str, Any], **options: Any) -> list[MultilabelExample]:
    return list(multilabel(source(folder, rows, {"text": "body", "labels": ["a", "b", "c"], **options})))


def test_labels_may_be_a_list_a_text_or_columns(tmp_path: Path) -> None:
    row = {"body": "x", "of": ["b", "a", "b"]}
    [one] = several(tmp_path, row, label="of")
    assert (one.id, one.text, one.labels) == ("train-000001", "x", ["a", "b"])
    [one] = several(tmp_path, row | {"of": " c;; a "}, label="of", separator=";")
    assert one.labels == ["a", "c"]
    [one] = several(tmp_path, row, label="of", separator=";")
    assert one.labels == ["a", "b"]
    with pytest.raises(PubmillError, match="the key 'of' with a list"):
        several(tmp_path, row | {"of": "a;b"}, label="of")
    [one] = several(tmp_path, row | {"choose": ["p", "q"]}, label="of", choices="choose")
    assert one.text == "x (A) p (B) q"


@pytest.mark.parametrize(("values", "labels"), [
    ((1, 0, True), ["a", "c"]), (("1.0", "0.0", "TRUE"), ["a", "c"]), ((False, 1.0, "0"), ["b"]),
])  # fmt: skip
def test_columns_of_a_and_b_are_flags(tmp_path: Path, values: tuple[Any, ...], labels: list[str]) -> None:
    row = {"body": "x", **dict(zip("abc", values, strict=True))}
    [one] = several(tmp_path, row, columns=["a", "b", "c"])
    assert one.labels == labels
    with pytest.raises(PubmillError, match="expected 0 or 1 in 'b', found '?2'?"):
        several(tmp_path, row | {"b": 2}, columns=["a", "b", "c"])


@pytest.mark.parametrize("options", [{}, {"label": "of", "columns": ["a"]}])
def test_labels_are_of_a_key_or_of_columns(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match="needs the option `label`, a key with labels, or `columns` of 0"):
        several(tmp_path, **options)


def sentences(folder: Path, labels: Any, *rows: dict[str, Any]) -> list[TokensExample]:
    options = {"words": "words", "label": "tags", "labels": labels}
    return list(tokens(source(folder, rows, options)))


def test_labels_of_words_are_numbers_or_as_written(tmp_path: Path) -> None:
    [one] = sentences(tmp_path, ["O", "B-X"], {"words": ["a", "b", "c"], "tags": [1, 0, 1]})
    assert (one.id, one.words, one.labels) == ("train-000001", ["a", "b", "c"], ["B-X", "O", "B-X"])
    [one] = sentences(tmp_path, "as_written", {"words": ["a"], "tags": ["B"]})
    assert one.labels == ["B"]


@pytest.mark.parametrize(("labels", "words", "tags", "message"), [
    *((["O", "B-X"], ["a", "b"], [0, number], "the key 'tags' with numbers of the 2 labels, from 0")
      for number in (2, -1, True, "1", None)),
    *(("as_written", words, tags,
       f": expected the key 'words' with as many words as labels; found {len(words)} and {len(tags)}$")
      for words, tags in (([], []), (["a"], ["O", "O"]), (["a", 1], ["O", "O"]), (["a"], [1]))),
    *((labels, [], [], "must be `as_written`, or the BIO label of each number, as a list")
      for labels in (None, "O", {"0": "O"}, ["O", 1])),
])  # fmt: skip
def test_words_have_a_known_label_each(
    tmp_path: Path, labels: Any, words: list[Any], tags: list[Any], message: str
) -> None:
    with pytest.raises(PubmillError, match=message):
        sentences(tmp_path, labels, {"words": words, "tags": tags})


@pytest.mark.parametrize("score", ["2.5", 2.5])
def test_scores_are_numbers(tmp_path: Path, score: Any) -> None:
    options = {"text": "one", "text_pair": "two", "score": "value"}
    row = {"one": "a", "two": "b"}
    [found] = regression(source(tmp_path, [row | {"value": score}], options))
    assert (found.id, found.text, found.text_pair, found.score) == ("train-000001", "a", "b", 2.5)
    for wrong in ("high", None):
        with pytest.raises(PubmillError, match="the key 'value' with a number"):
            list(regression(source(tmp_path, [row | {"value": wrong}], options)))


@pytest.mark.parametrize(("line", "message"), [
    (f'{{"pairID": "{CANARY}', "not valid JSON: .* at character"),
    (f'["{CANARY}"]', "expected a list of objects"),
    ('{"pairID": ' + "9" * 5000 + "}", "a number too long"),
    (f'{{"{CANARY}": 1, "{CANARY}": 2}}', "the key <8 characters, not shown.* occurs twice"),
    (json.dumps({**PAIR, "pairID": ""}), "'pairID'"),
    (json.dumps({**PAIR, "pairID": "a-2", "one": " "}), "'one'"),
    (json.dumps({**PAIR, "pairID": "a-2", "two": 3}), "'two'"),
    (json.dumps({**PAIR, "pairID": "a-2", "gold": CANARY}), "label .*found <8 characters, not shown"),
])  # fmt: skip
def test_messages_on_licensed_rows_have_no_text_of_them(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text(f"{json.dumps(PAIR)}\n{line}\n")
    with withholding(True), pytest.raises(PubmillError, match=rf"train\.jsonl.*: .*{message}") as error:
        list(sequence(given("train", {"train": path}, **LICENSED)))
    assert CANARY not in str(error.value)

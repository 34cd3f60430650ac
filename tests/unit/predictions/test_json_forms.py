"""Single values of submissions: answers, spans of other libraries, free strings, batches of hosted models."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers.pipelines.token_classification import TokenClassificationPipeline

from pubmill.errors import PubmillError
from pubmill.examples.kinds import write_examples
from pubmill.predictions.alignment import joined_pieces
from pubmill.predictions.free_answers import FreeItem, plain_answer, read_answer
from pubmill.predictions.json_forms import answers_of, read_batch, read_document, row_of, spans_of
from tests.unit.predictions import toy_datasets as toy


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("one", [("one", 1.0)]), (["one", "two"], [("one", 1.0), ("two", 0.5)]),
        ({"text": "one", "probability": 1}, [("one", 1.0)]),
        ([{"text": "a", "probability": 1.0}, {"text": "b", "probability": 0}], [("a", 1.0), ("b", 0.0)]),
        *((wrong, None) for wrong in (
            [], [1], None, ["one", 2],
            {"text": 1, "probability": 0.5}, {"text": "a"}, [{"probability": 0.5}, 3],
            {"text": "a", "probability": True}, {"text": "a", "probability": "0.5"},
            {"text": "a", "probability": -0.1}, {"text": "a", "probability": 1.1},
            {"text": "a", "probability": float("nan")},
            [{"text": "a", "probability": 0.1}, {"text": "b", "probability": 0.2}],
        )),
    ],
)  # fmt: skip
def test_answers_are_ranked_and_others_refused(value: Any, expected: list[tuple[str, float]] | None) -> None:
    if expected is not None:
        assert answers_of(value, "line 1") == expected
        return
    with pytest.raises(PubmillError, match="line 1: expected an answer"):
        answers_of(value, "line 1")


ONE = [(4, 7, "A")]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([{"start": 0, "end": 1, "type": "A"}, {"start": 1, "end": 3, "label": "B"}, {"start": 4, "end": 5}],
         [(0, 1, "A"), (1, 3, "B"), (4, 5, "")]),
        (["flu", {"text": "flu", "type": "A"}], [("flu", ""), ("flu", "A")]),
        # transformers, also without aggregation; spaCy's to_json and Span; Flair twice; GLiNER; Stanza
        ([{"entity_group": "A", "score": 0.9, "word": "flu", "start": 4, "end": 7}], ONE),
        ([{"entity": "A", "start": 4, "end": 7}], ONE), ([{"start": 4, "end": 7, "label": "A"}], ONE),
        ([{"start": 1, "end": 2, "start_char": 4, "end_char": 7, "label_": "A"}], ONE),
        ([{"text": "flu", "start_pos": 4, "end_pos": 7, "labels": [{"value": "A", "confidence": 0.9}]}], ONE),
        ([{"text": "flu", "start_pos": 4, "end_pos": 7, "value": "A"}], ONE),
        ([{"start": 4, "end": 7, "text": "flu", "label": "A", "score": 0.9}], ONE),
        ([{"text": "flu", "type": "A", "start_char": 4, "end_char": 7}], ONE),
        *((wrong, None) for wrong in (
            None, [3], [{"start": 0}], [{"start": 0, "end": 1.0}], [{"start": True, "end": 2}],
            [{"start": 1, "end": 1}], [{"text": "a", "end": 1}], [{"text": 1}], [{"text": "a", "type": 1}],
            [{"start": -1, "end": 1}], [{"start": 0, "end": 1, "type": 3}],
            [{"start": 0, "end": 1}, {"start": 2, "end": 1}],
            [{"start": 4, "end": 7, "labels": [{"value": "A"}, {"value": "B"}]}],
            [{"start": 4, "end": 7, "labels": []}], [{"start": 4, "end": 7, "type": None}],
            [{"start": None, "end": None, "entity_group": "A"}],
            [{"start_char": 4, "text": "flu", "type": "A"}],
        )),
    ],
)  # fmt: skip
def test_spans_of_each_library_are_read_and_others_refused(value: Any, expected: list[Any] | None) -> None:
    if expected is not None:
        assert spans_of(value, "line 1") == expected
        return
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
        found = [(one.where, one.id, one.value) for one in read_document(content, "f")]
        assert found == [("f: item 1", "a", "x"), ("f: item 2", "b", "y")]
    found = [(one.where, one.id, one.value) for one in read_document({"a": 3, "b": {"label": "y"}}, "f")]
    assert found == [("f: a", "a", 3), ("f: b", "b", "y")]
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


PIECES = st.lists(
    st.tuples(st.sampled_from(["O", "B-A", "I-A", "B-B", "I-B", "A", "C"]), st.booleans()), max_size=12
)


@settings(max_examples=100, deadline=None)
@given(PIECES)
def test_pieces_are_joined_as_by_transformers(pieces: list[tuple[str, bool]]) -> None:
    """What its pipeline writes without aggregation becomes what it writes with `simple`."""
    whole, text = [], ""
    for number, (label, spaced) in enumerate(pieces, 1):
        start = len(text) + spaced
        piece = {"entity": label, "score": 0.5, "index": number, "word": "ab", "start": start}
        piece["end"] = start + 2
        text = f"{text}{' ' * spaced}ab"
        whole.append(piece)
    pipeline = TokenClassificationPipeline.__new__(TokenClassificationPipeline)
    pipeline.tokenizer = SimpleNamespace(convert_tokens_to_string=" ".join)  # type: ignore[assignment]
    groups = pipeline.group_entities(whole)
    expected = [(one["start"], one["end"], one["entity_group"]) for one in groups]
    given_ = [one for one in whole if one["entity"] != "O"]
    found = joined_pieces(spans_of(given_, "f"), text, {"A", "B", "C"}, {})
    assert found == [one for one in expected if one[2] != "O"]
    if all(label[1:2] == "-" or label == "O" for label, _ in pieces):
        bare = [{name: one[name] for name in ("entity", "start", "end")} for one in given_]
        joined = joined_pieces(spans_of(bare, "f"), text, {"A", "B"}, {})
        assert joined == [one for one in expected if one[2] != "O"]  # words between them show an O


def test_other_types_are_refused_with_a_mapping_or_mapped(tmp_path: Path) -> None:
    toy.make(tmp_path, "ner")
    content = toy.span_lines().replace("Disease", "DISEASE").replace("Chemical", "Drug")
    with pytest.raises(PubmillError) as refused:
        toy.score(tmp_path, "ner", content)
    for said in (
        "2 labels that the dataset lacks: DISEASE, Drug; it has Disease, Chemical",
        "; the file has DISEASE, Drug. ",
        '`--mapping`, such as {"DISEASE": "Disease", "Drug": null}',
        "in which null leaves a label out",
    ):
        assert said in str(refused.value)
    found = toy.score(tmp_path, "ner", content, mapping={"DISEASE": "Disease", "Drug": "Chemical"})
    assert found.metrics["entity_f1"] == 1.0


@pytest.mark.parametrize(
    "document",
    [
        {"ents": [{"start": 0, "end": 3, "label": "A"}], "sents": [], "tokens": [{"id": 0}], "cats": {}},
        {"entities": [{"text": "flu", "start_pos": 0, "end_pos": 3, "labels": [{"value": "A"}]}],
         "labels": [], "relations": [], "tokens": [{"text": "flu"}]},
    ],
)  # fmt: skip
def test_documents_of_spacy_and_flair_are_read(document: dict[str, Any]) -> None:
    row = row_of({"text": "flu", **document}, "line 1")
    assert (row.key, row.value, row.text) == ("mentions", [(0, 3, "A")], "flu")


def test_an_empty_list_is_no_mention_but_not_beside_lists_of_labels(tmp_path: Path) -> None:
    toy.make(tmp_path, "ner")
    rows: Any = toy.examples("ner")
    found = {one.id: toy.spans(one) for one in rows} | {rows[0].id: []}
    assert toy.score(tmp_path, "ner", json.dumps(found)).metrics["entity_precision"] == 1.0
    labels = {one.id: one.labels for one in rows} | {rows[0].id: []}
    with pytest.raises(PubmillError, match="0 labels for the"):
        toy.score(tmp_path, "ner", json.dumps(labels))


@pytest.mark.parametrize("nothing", [None, ""])
def test_a_type_that_is_mapped_to_nothing_is_left_out(nothing: str | None, tmp_path: Path) -> None:
    toy.make(tmp_path, "ner")
    spans = toy.span_lines().replace("Chemical", "Drug")
    found = toy.score(tmp_path, "ner", spans, mapping={"Drug": nothing})
    assert found.metrics["entity_precision"] == 1.0 > found.metrics["entity_recall"]
    drugs = found.counts["gold"] - found.counts["correct"]
    assert found.left_aside() == [f"left out, as the mapping says: Drug {drugs}"]
    labels = toy.conll().replace("-Chemical", "-Drug")
    assert toy.score(tmp_path, "ner", labels, mapping={"Drug": nothing}).metrics == found.metrics


def test_pieces_of_words_are_scored_as_mentions(tmp_path: Path) -> None:
    toy.make(tmp_path, "ner")
    rows: Any = toy.examples("ner")
    lines = []
    for one in rows:
        pieces: list[dict[str, Any]] = []
        for span in toy.spans(one):
            half = (span["start"] + span["end"]) // 2
            for prefix, start, end in (("B", span["start"], half), ("I", half, span["end"])):
                pieces.append({"entity": f"{prefix}-{span['type'].lower()}", "start": start, "end": end})
                pieces[-1]["index"] = pieces[-2]["index"] + 1 if prefix == "I" else start
        lines.append({"id": one.id, "mentions": pieces})
    with pytest.raises(PubmillError, match="2 labels that the dataset lacks: disease, chemical"):
        toy.score(tmp_path, "ner", lines)
    for prefix in ("", "B-"):
        mapping: dict[str, Any] = {f"{prefix}disease": "Disease", f"{prefix}chemical": "Chemical"}
        assert toy.score(tmp_path, "ner", lines, mapping=mapping).metrics["entity_f1"] == 1.0


@pytest.mark.parametrize(
    ("answer", "items", "rules"),
    [
        (" yes ", ["yes"], []), ("", [], []), ("a\n\nb", ["a", "b"], []),
        ("* a\n• b\n3) c", ["a", "b", "c"], ["bullets"]), ("```\n- a\n```", ["a"], ["fence", "bullets"]),
        ("So:\n```json\n[1, 2.5]\n```\nThat is all.", ["1", "2.5"], ["fence", "json"]),
        ("<thinking>\n```x```\n</thinking> no", ["no"], ["reasoning"]),
        ('{"answer": {"text": "x"}}', ["x"], ["json"]), ("[]", [], ["json"]),
        ('{"x y": 1, "z": 0, "u": "1"}', ["x y", "u"], ["json"]), ('{"x": 0}', [], ["json"]),
        ('{"score": 1}', ["1"], ["json"]),
        ("```\na\n```\n```\nb\n```", ["```", "a", "```", "```", "b", "```"], []),  # two answers are none
        *((as_it_is, [as_it_is], []) for as_it_is in (
            '{"x": 1, "z": ""}', '{"label": "a"', '{"why": "x"}', "[true]", '{"a": 1, "a": 2}',
            "1-methylhistidine",
        )),
    ],
)  # fmt: skip
def test_marks_are_taken_off(answer: str, items: list[str], rules: list[str]) -> None:
    found = read_answer(answer, "the text")
    assert ([item.text for item in found.items], found.rules) == (items, rules)


@pytest.mark.parametrize("answer", ["[18F]", '["a"]', "- 5 mg", "1. Flu"])
def test_what_stands_in_the_text_is_no_mark(answer: str) -> None:
    assert read_answer(answer, f"It is {answer} here") == ([FreeItem(answer)], [])


def test_types_are_those_of_the_json_and_answers_are_made_plain() -> None:
    found = read_answer('{"Drug": ["a", "b"], "Disease": []}', "").items
    assert found == [("a", "Drug"), ("b", "Drug")]
    for form in (
        '[{"entity": "a", "category": "Drug"}]',
        '{"entities": [{"mention": "a", "label": "Drug"}]}',
    ):
        assert read_answer(form, "").items == [("a", "Drug")]
    assert read_answer('[{"label": "a"}]', "").items == [("a", None)]
    assert [plain_answer(text) for text in (" **Yes**.", '"No!"', "(b)  c")] == ["yes", "no", "b) c"]


def test_a_text_that_occurs_several_times_is_several_mentions_and_counted(tmp_path: Path) -> None:
    folder, examples = toy.make(tmp_path, "ner"), toy.examples("ner")
    twice = [replace(examples[0], words=["flu" if word == "old" else word for word in examples[0].words])]  # type: ignore[call-arg, attr-defined]
    write_examples(folder / "test.jsonl.gz", [*twice, *examples[1:]])
    lines = [{"id": one.id, "output": "Disease: flu"} for one in examples]
    found = toy.score(tmp_path, "ner", lines, mapping={"disease": "Disease"})
    assert found.submission.reading.spans == 13 and found.summary()["read_by_rule"]["places"] == 1
    assert any("1 of 12 answers name a text that occurs several times" in one for one in found.left_aside())

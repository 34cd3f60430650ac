"""JSON of texts with spans of characters and of words: their forms, and what a wrong row says."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.formats.document_files import ANNOTATED
from pubmill.formats.documents import InputDocument
from pubmill.formats.offsets import USUAL
from pubmill.formats.spans import has_spans

TEXT = "Aspirin harms mice."
LABELLED: dict[str, Any] = {"tokenized_text": ["No", "one", "else"], "ner": [[1, 2, "Name", "more"]]}


def read(*rows: Mapping[str, Any], name: str = "") -> list[InputDocument]:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    return list(ANNOTATED["spans"]({name: text}, "in", USUAL))


def test_texts_and_spans_may_have_several_names() -> None:
    span = {"start_offset": 0, "end_offset": 7, "label": "Drug"}
    rows: list[dict[str, Any]] = [
        {"id": "x", "text": TEXT, "label": [[0, 7, "Drug"]]},
        {"data": TEXT, "labels": [[0, 7, "Drug"]]},
        {"id": 9, "text": TEXT, "spans": [{"start": 0, "end": 7, "label": "Drug"}]},
        {"text": TEXT, "label": "no list", "entities": [span]},
    ]
    found = read(*rows, name="a.jsonl")
    assert [(one.id, one.where) for one in found] == [
        ("x", "in:a.jsonl:1"), ("a-2", "in:a.jsonl:2"), ("9", "in:a.jsonl:3"), ("a-4", "in:a.jsonl:4"),
    ]  # fmt: skip
    for one in found:
        [mention] = one.passages[0].mentions
        assert (mention.start, mention.end, mention.type, mention.text) == (0, 7, "Drug", "Aspirin")
        assert one.passages[0].text == TEXT
    assert all(map(has_spans, rows))


@pytest.mark.parametrize(("span", "place", "found"), [
    ([0, 20, "Drug"], ", 0 to 20 of Drug", "it says '', the text there is 'Aspirin harms mice.'"),
    ([-1, 7, "Drug"], ", -1 to 7 of Drug", "it says '', the text there is 'Aspirin'"),
    ([7, 7, "Drug"], ", 7 to 7 of Drug", "it says '', the text there is ''"),
    ([0, 7, ""], "", "found 0 to 7 of no type"), ([0, 7], "", "found 0 to 0 of no type"),
    ([0, 7, "Drug", "more"], ", 0 to 7 of Drug", "it says 'more', the text there is 'Aspirin'"),
    ([0, True, "Drug"], "", "found 0 to 0 of no type"), ([0, 7, None], "", "found 0 to 0 of no type"),
    ({"start": 0, "label": "Drug"}, "", "found 0 to 0 of no type"),
    ("0-7", "", "found 0 to 0 of no type"),
])  # fmt: skip
def test_spans_that_are_no_part_of_the_text_are_refused(span: Any, place: str, found: str) -> None:
    with pytest.raises(PubmillError) as caught:
        read({"text": TEXT, "label": [[0, 19, "All"]]}, {"text": TEXT, "label": [[0, 7, "Drug"], span]})
    assert str(caught.value) == (
        f"in:2{place}: expected spans `[start, end, TYPE]` of characters of the text, which has 19, end "
        f"excluded, and with the text that they state, if they do; {found}"
    )


@pytest.mark.parametrize("row", [
    {"label": []}, {"text": 5, "label": []}, {"text": TEXT}, {"text": TEXT, "label": "Drug"},
    {"text": TEXT, "label": [], "id": None}, {"text": TEXT, "label": [], "id": [1]},
])  # fmt: skip
def test_rows_of_another_form_are_refused(row: Mapping[str, Any]) -> None:
    with pytest.raises(PubmillError) as caught:
        read(row)
    assert str(caught.value).startswith("in:1: expected a text (text, data,")
    assert "a list of spans (entities, label," in str(caught.value)


@pytest.mark.parametrize("span", [
    {"start": 14, "end": 18, "type": "Species", "text": "mice"},
    {"begin": 14, "end": 18, "entity_group": "Species", "word": " mice"},
    {"start_char": 14, "end_char": 18, "entity_type": "Species"},
    {"startOffset": 14, "endOffset": 18, "entity": "mice", "tag": "Species"},
    {"offset": 14, "length": 4, "category": "Species"}, {"span": [14, 18], "type": "Species"},
    [14, 18, "Species"], [14, 18, "Species", "mice"],
])  # fmt: skip
def test_spans_have_the_keys_of_many_programs(span: Any) -> None:
    [found] = read({"text": TEXT, "entities": [span]})
    [mention] = found.passages[0].mentions
    assert (mention.start, mention.end, mention.type, mention.text) == (14, 18, "Species", "mice")


@pytest.mark.parametrize("content", [
    [[TEXT, {"entities": [[14, 18, "Species"]]}]],
    {"classes": ["Species"], "annotations": [[TEXT, {"entities": [[14, 18, "Species"]]}]]},
    [{"text": TEXT, "ents": [{"start": 14, "end": 18, "label": "Species"}]}],
    {"text": TEXT, "ents": [{"start": 14, "end": 18, "label": "Species"}], "tokens": [{"id": 0}]},
])  # fmt: skip
def test_spacys_training_data_are_read(content: Any) -> None:
    [found] = ANNOTATED["spans"]({"": json.dumps(content)}, "in", USUAL)
    assert [(one.text, one.type) for one in found.passages[0].mentions] == [("mice", "Species")]


@pytest.mark.parametrize(("row", "is_one"), [
    ({"text": TEXT, "label": []}, True),
    ({"text": TEXT, "label": [[0, 7, "Drug"], {"start": 0, "end": 7, "label": "Drug"}]}, True),
    ({"text": TEXT, "label": [[0, 7, "Drug"], ["Drug"]]}, False),
    ({"text": TEXT, "label": ["a", "b", "c"]}, False), ({"text": TEXT, "label": "Drug"}, False),
    ({"label": []}, False),
])  # fmt: skip
def test_a_text_with_a_list_of_spans_is_recognised(row: Mapping[str, Any], is_one: bool) -> None:
    assert has_spans(row) is is_one


def labelled(*rows: Mapping[str, Any], name: str = "") -> list[InputDocument]:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    return list(ANNOTATED["word-spans"]({name: text}, "in", USUAL))


def test_spans_of_words_are_at_their_characters() -> None:
    twice = LABELLED | {"id": 5, "ner": [*LABELLED["ner"], [1, 2, "Other"]]}
    found = labelled(LABELLED, twice, LABELLED | {"ner": []}, name="a.jsonl")
    assert [(one.id, one.where) for one in found] == [
        ("a-1", "in:a.jsonl:1"), ("5", "in:a.jsonl:2"), ("a-3", "in:a.jsonl:3"),
    ]  # fmt: skip
    mentions = [[(m.start, m.end, m.type, m.text) for m in one.passages[0].mentions] for one in found]
    # of two types of one span, the first is kept
    assert mentions == [[(3, 11, "Name", "one else")], [(3, 11, "Name", "one else")], []]


FORM = "in:2: expected `tokenized_text`, a list of words, and in `ner` lists of 2 numbers of words and a type"
AMONG = (
    "in:2: the words {} are not among the 3 of the document; they count from its start, from 0, and the last "
    "is included"
)


@pytest.mark.parametrize(("change", "message"), [
    *(({"tokenized_text": words}, FORM) for words in ("One", ["One two"], [""], [1])),
    *(({"ner": spans}, FORM)
      for spans in ("text", ["text"], [[0, 0]], [[0, 0, 5]], [[0, True, "Drug"]], [["0", 0, "Drug"]])),
    *(({"ner": [[first, last, "Drug"]]}, AMONG.format(f"{first} to {last}"))
      for first, last in ((-1, 0), (2, 1), (2, 3))),
])  # fmt: skip
def test_wrong_spans_of_words_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(PubmillError) as caught:
        labelled(LABELLED, LABELLED | change)
    assert str(caught.value) == message


def test_rows_of_other_words_are_refused() -> None:
    with pytest.raises(PubmillError, match="in:2: expected `tokenized_text` and `ner`, or `paragraphs` of"):
        labelled(LABELLED, {"doc_key": "d1"})
    row = {"id": 0, "paragraphs": [{"sentences": [{"tokens": [{"orth": "Mice", "ner": "Species"}]}]}]}
    with pytest.raises(PubmillError, match="expected BILUO labels as `ner` of the tokens, found 'Species'"):
        list(ANNOTATED["word-spans"]({"": json.dumps([row])}, "in", USUAL))


@pytest.mark.parametrize("content", [
    [{"tokenized_text": ["Mice", "ate", "rat", "poison"], "ner": [[0, 0, "Species"], [2, 3, "Drug"]]}],
    [{"id": 0, "paragraphs": [{"raw": "", "sentences": [{"tokens": [
        {"orth": "Mice", "ner": "U-Species"}, {"orth": "ate", "ner": "O"}, {"orth": " ", "ner": "O"},
        {"orth": "rat", "ner": "B-Drug"}, {"orth": "poison", "ner": "L-Drug"}]}]}]}],
])  # fmt: skip
def test_training_data_of_gliner_and_spacy_are_labelled_words(content: Any) -> None:
    for text in (json.dumps(content), json.dumps(content, indent=1), "\n".join(map(json.dumps, content * 2))):
        found = list(ANNOTATED["word-spans"]({"": text}, "in", USUAL))
        for one in found:
            assert one.passages[0].text == "Mice ate rat poison"
            mentions = [(mention.text, mention.type) for mention in one.passages[0].mentions]
            assert mentions == [("Mice", "Species"), ("rat poison", "Drug")]

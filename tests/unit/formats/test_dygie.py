"""JSON lines of DyGIE++: spans of words at their characters, and what a wrong line says."""

import json
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.formats.document_files import ANNOTATED
from pubmill.formats.documents import FileRelation, InputDocument
from pubmill.formats.offsets import USUAL

ROW: dict[str, Any] = {
    "doc_key": "d1",
    "sentences": [["Aspirin", "harms", "mice"], [], ["No", "one", "else"]],
    "ner": [[[0, 0, "Drug"], [2, 2, "Species"]], [], [[4, 5, "Name", "more"], [4, 5, "Other"]]],
    "relations": [[[0, 0, 2, 2, "HARMS"]], [], [[2, 2, 4, 5, "IS", 0.5]]],
    "events": [[[[1, "Harm"], [0, 0, "Cause"]]], [], [[[3, "Nothing"]]]],
}


def read(*rows: dict[str, Any], name: str = "") -> list[InputDocument]:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    return list(ANNOTATED["dygie"]({name: text}, "in", USUAL))


def test_words_count_from_the_start_of_the_document() -> None:
    [found, bare] = read(ROW, {"doc_key": "d2", "sentences": [["One"]]}, name="a.jsonl")
    [passage] = found.passages
    assert (found.id, found.where, bare.where) == ("d1", "in:a.jsonl:1", "in:a.jsonl:2")
    assert (passage.text, passage.offset) == ("Aspirin harms mice\n\nNo one else", 0)
    # of two types of one span, the first is kept
    assert [(one.start, one.end, one.type, one.text, one.id) for one in passage.mentions] == [
        (0, 7, "Drug", "Aspirin", "0-0"), (14, 18, "Species", "mice", "2-2"),
        (23, 31, "Name", "one else", "4-5"),
    ]  # fmt: skip
    assert found.relations == [
        FileRelation(type="HARMS", arguments=("0-0", "2-2"), source=None),
        FileRelation(type="IS", arguments=("2-2", "4-5"), source=None),
    ]
    assert found.events == ("Harm", "Nothing")
    assert (bare.passages[0].mentions, bare.relations, bare.events) == ([], [], ())
    assert read({**ROW, "ner": [], "relations": []})[0].passages[0].mentions == []
    assert read(ROW)[0].where == "in:1"


@pytest.mark.parametrize(
    "change",
    [
        {"doc_key": 5}, {"sentences": "One"}, {"sentences": ["One"]}, {"sentences": [["One two"]]},
        {"sentences": [[""]]}, {"sentences": [[1]]},
    ],
)  # fmt: skip
def test_a_document_has_a_name_and_sentences_of_words(change: dict[str, Any]) -> None:
    with pytest.raises(PubmillError) as caught:
        read(ROW, ROW | change)
    assert str(caught.value) == "in:2: expected `doc_key`, a string, and `sentences`, lists of words"


@pytest.mark.parametrize("lists", [5, {"0": []}, [[]], [[], []], [[], [], [], []]])
@pytest.mark.parametrize("key", ["ner", "relations"])
def test_every_sentence_has_a_list(key: str, lists: Any) -> None:
    with pytest.raises(PubmillError) as caught:
        read(ROW | {key: lists})
    assert str(caught.value) == f"in:1: expected in `{key}` a list for each of the 3 sentences"


@pytest.mark.parametrize(
    ("key", "items", "numbers"),
    [
        ("ner", "text", 2), ("ner", ["text"], 2), ("ner", [[0, 0]], 2), ("ner", [[0, 0, 5]], 2),
        ("ner", [[0, True, "Drug"]], 2), ("ner", [["0", 0, "Drug"]], 2),
        ("relations", [[0, 0, 2, 2]], 4), ("relations", [[0, 0, 2, None, "HARMS"]], 4),
    ],
)  # fmt: skip
def test_spans_and_relations_are_numbers_and_a_type(key: str, items: Any, numbers: int) -> None:
    with pytest.raises(PubmillError) as caught:
        read(ROW | {key: [[], [], items]})
    assert str(caught.value) == f"in:1: expected in `{key}` lists of {numbers} numbers of words and a type"


@pytest.mark.parametrize(("first", "last"), [(-1, 0), (2, 1), (5, 6)])
def test_spans_stand_among_the_words(first: int, last: int) -> None:
    with pytest.raises(PubmillError) as caught:
        read(ROW | {"ner": [[[first, last, "Drug"]], [], []], "relations": []})
    assert str(caught.value) == (
        f"in:1: the words {first} to {last} are not among the 6 of the document; they count from its start, "
        "from 0, and the last is included"
    )
    [found] = read(ROW | {"ner": [[[0, 5, "Drug"]], [], []], "relations": []})
    assert found.passages[0].mentions[0].text == found.passages[0].text


@pytest.mark.parametrize(("numbers", "words"), [([0, 0, 1, 1], "1 to 1"), ([4, 4, 0, 0], "4 to 4")])
def test_relations_are_of_spans(numbers: list[int], words: str) -> None:
    with pytest.raises(PubmillError) as caught:
        read(ROW | {"relations": [[[*numbers, "X"]], [], []]})
    assert str(caught.value) == f"in:1: a relation has the words {words}, which no span of `ner` has"


@pytest.mark.parametrize(
    "content",
    [
        [{"tokenized_text": ["Mice", "ate", "rat", "poison"], "ner": [[0, 0, "Species"], [2, 3, "Drug"]]}],
        [{"id": 0, "paragraphs": [{"raw": "", "sentences": [{"tokens": [
            {"orth": "Mice", "ner": "U-Species"}, {"orth": "ate", "ner": "O"}, {"orth": " ", "ner": "O"},
            {"orth": "rat", "ner": "B-Drug"}, {"orth": "poison", "ner": "L-Drug"}]}]}]}],
    ],
)  # fmt: skip
def test_training_data_of_gliner_and_spacy_are_labelled_words(content: Any) -> None:
    for text in (json.dumps(content), json.dumps(content, indent=1), "\n".join(map(json.dumps, content * 2))):
        found = list(ANNOTATED["dygie"]({"": text}, "in", USUAL))
        for one in found:
            assert one.passages[0].text == "Mice ate rat poison"
            mentions = [(mention.text, mention.type) for mention in one.passages[0].mentions]
            assert mentions == [("Mice", "Species"), ("rat poison", "Drug")]


def test_other_labels_of_spacys_words_are_refused() -> None:
    row = {"id": 0, "paragraphs": [{"sentences": [{"tokens": [{"orth": "Mice", "ner": "Species"}]}]}]}
    with pytest.raises(PubmillError, match="expected BILUO labels as `ner` of the tokens, found 'Species'"):
        list(ANNOTATED["dygie"]({"": json.dumps([row])}, "in", USUAL))

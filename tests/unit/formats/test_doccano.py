"""JSON lines of annotation tools: the forms of spans and relations, and what a wrong line says."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.formats.doccano import is_doccano
from pubmill.formats.document_files import ANNOTATED
from pubmill.formats.documents import FileRelation, InputDocument
from pubmill.formats.offsets import USUAL

TEXT = "Aspirin harms mice."


def read(*rows: Mapping[str, Any], name: str = "") -> list[InputDocument]:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    return list(ANNOTATED["doccano"]({name: text}, "in", USUAL))


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
        assert mention.id is None and one.passages[0].text == TEXT
    assert all(map(is_doccano, rows))


def test_relations_name_the_ids_of_spans() -> None:
    spans = [
        {"id": number, "start_offset": start, "end_offset": end, "label": "Name"}
        for number, start, end in ((7, 0, 7), (8, 14, 19))
    ]
    given = {"text": TEXT, "entities": spans, "relations": [{"from_id": 8, "to_id": 7, "type": "harms"}]}
    [found] = read(given)
    assert found.relations == [FileRelation(type="harms", arguments=("8", "7"), source=None)]
    assert [one.text for one in found.passages[0].mentions] == ["Aspirin", "mice."]
    assert found.where == "in:1"
    for wrong in ({"from_id": 8, "to_id": 9, "type": "harms"}, {"from_id": 8, "to_id": 7, "type": 5}, [8, 7]):
        with pytest.raises(PubmillError) as caught:
            read(given | {"relations": [wrong]})
        assert str(caught.value) == (
            "in:1: expected a relation with `type`, `from_id` and `to_id`, the ids of spans of its text"
        )


@pytest.mark.parametrize(
    ("span", "found"),
    [
        ([0, 20, "Drug"], "in:2, 0 to 20 of Drug: it says '', the text there is 'Aspirin harms mice.'"),
        ([-1, 7, "Drug"], "in:2, -1 to 7 of Drug: it says '', the text there is 'Aspirin'"),
        ([7, 7, "Drug"], "in:2, 7 to 7 of Drug: it says '', the text there is ''"),
        ([0, 7, ""], "found 0 to 7 of no type"),
        ([0, 7], "found 0 to 0 of no type"),
        ([0, 7, "Drug", "more"], "in:2, 0 to 7 of Drug: it says 'more', the text there is 'Aspirin'"),
        ([0, True, "Drug"], "found 0 to 0 of no type"),
        ([0, 7, None], "found 0 to 0 of no type"),
        ({"start": 0, "label": "Drug"}, "found 0 to 0 of no type"),
        ("0-7", "found 0 to 0 of no type"),
    ],
)
def test_spans_that_are_no_part_of_the_text_are_refused(span: Any, found: str) -> None:
    with pytest.raises(PubmillError) as caught:
        read({"text": TEXT, "label": [[0, 19, "All"]]}, {"text": TEXT, "label": [[0, 7, "Drug"], span]})
    assert str(caught.value) == (
        "in:2: expected spans `[start, end, TYPE]` of characters of the text, which has 19, end excluded, "
        f"and with the text that they state, if they do; {found}"
    )


@pytest.mark.parametrize(
    "row",
    [
        {"label": []},
        {"text": 5, "label": []},
        {"text": TEXT},
        {"text": TEXT, "label": "Drug"},
        {"text": TEXT, "label": [], "id": None},
        {"text": TEXT, "label": [], "id": [1]},
    ],
)
def test_rows_of_another_form_are_refused(row: Mapping[str, Any]) -> None:
    with pytest.raises(PubmillError) as caught:
        read(row)
    assert str(caught.value).startswith("in:1: expected a text (text, data,")
    assert "a list of spans (entities, label," in str(caught.value)


OFTEN = [
    {"start": 14, "end": 18, "type": "Species", "text": "mice"},
    {"begin": 14, "end": 18, "entity_group": "Species", "word": " mice"},
    {"start_char": 14, "end_char": 18, "entity_type": "Species"},
    {"startOffset": 14, "endOffset": 18, "entity": "mice", "tag": "Species"},
    {"offset": 14, "length": 4, "category": "Species"},
    {"span": [14, 18], "type": "Species"},
    {"start": 14, "end": 18, "labels": ["Species"]},
    [14, 18, "Species"],
    [14, 18, "Species", "mice"],
]


@pytest.mark.parametrize("span", OFTEN)
def test_spans_have_the_keys_of_many_programs(span: Any) -> None:
    [found] = read({"text": TEXT, "entities": [span]})
    [mention] = found.passages[0].mentions
    assert (mention.start, mention.end, mention.type, mention.text) == (14, 18, "Species", "mice")


@pytest.mark.parametrize(
    "content",
    [
        [[TEXT, {"entities": [[14, 18, "Species"]]}]],
        {"classes": ["Species"], "annotations": [[TEXT, {"entities": [[14, 18, "Species"]]}]]},
        [{"text": TEXT, "ents": [{"start": 14, "end": 18, "label": "Species"}]}],
        {"text": TEXT, "ents": [{"start": 14, "end": 18, "label": "Species"}], "tokens": [{"id": 0}]},
    ],
)
def test_spacys_training_data_are_read(content: Any) -> None:
    [found] = ANNOTATED["doccano"]({"": json.dumps(content)}, "in", USUAL)
    assert [(one.text, one.type) for one in found.passages[0].mentions] == [("mice", "Species")]


@pytest.mark.parametrize(
    ("row", "is_one"),
    [
        ({"text": TEXT, "label": []}, True),
        ({"text": TEXT, "label": [[0, 7, "Drug"], {"start": 0, "end": 7, "label": "Drug"}]}, True),
        ({"text": TEXT, "label": [[0, 7, "Drug"], ["Drug"]]}, False),
        ({"text": TEXT, "label": ["a", "b", "c"]}, False),
        ({"text": TEXT, "label": "Drug"}, False),
        ({"label": []}, False),
    ],
)
def test_a_text_with_a_list_of_spans_is_recognised(row: Mapping[str, Any], is_one: bool) -> None:
    assert is_doccano(row) is is_one

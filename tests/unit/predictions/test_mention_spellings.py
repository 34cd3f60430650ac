"""Mentions as other libraries write them: their types, their offsets, and pieces of words with B- and I-."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers.pipelines.token_classification import TokenClassificationPipeline

from pubmill.errors import PubmillError
from pubmill.predictions.alignment import joined_pieces
from pubmill.predictions.json_forms import row_of, spans_of
from tests.unit.predictions import toy_datasets as toy


@pytest.mark.parametrize(
    "mention",
    [
        {"entity_group": "A", "score": 0.9, "word": "flu", "start": 4, "end": 7},  # transformers
        {"entity": "A", "start": 4, "end": 7},  # transformers, without aggregation
        {"start": 4, "end": 7, "label": "A"},  # spaCy, to_json
        {"start": 1, "end": 2, "start_char": 4, "end_char": 7, "label_": "A"},  # spaCy, attributes of a Span
        {"text": "flu", "start_pos": 4, "end_pos": 7, "labels": [{"value": "A", "confidence": 0.9}]},  # Flair
        {"text": "flu", "start_pos": 4, "end_pos": 7, "value": "A"},
        {"start": 4, "end": 7, "text": "flu", "label": "A", "score": 0.9},  # GLiNER
        {"text": "flu", "type": "A", "start_char": 4, "end_char": 7},  # Stanza
    ],
)
def test_each_library_s_mentions_are_read(mention: dict[str, Any]) -> None:
    assert spans_of([mention], "line 1") == [(4, 7, "A")]


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

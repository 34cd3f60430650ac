"""BigBIO's schemas: texts at their offsets, and ids of the examples."""

from dataclasses import replace
from typing import Any

import pytest

from pubmill.convert.bigbio import SCHEMAS, schema_name, to_bigbio
from pubmill.examples.kinds import SequenceExample
from pubmill.specs.dataset_specs import TASKS as OF_KIND
from tests.unit import toy_examples as toy
from tests.unit.convert.test_lm_eval import LABELS, NEGATIVE, TASKS

EXPECTED = {"ner": "kb", "rel": "kb", "doc": "text", "sim": "pairs", "qa": "qa"}


def rows_of(name: str) -> list[dict[str, Any]]:
    kind, task = toy.KINDS[name], TASKS[name]
    assert schema_name(kind, task) == EXPECTED[name]
    table = to_bigbio(toy.examples(name), kind, task, LABELS[name], NEGATIVE.get(name))
    assert table.schema == SCHEMAS[EXPECTED[name]]
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


@pytest.mark.parametrize("name", ["ner", "rel"])
def test_passages_and_entities_stand_at_their_offsets(name: str) -> None:
    """The text of a row is its passages with a blank between, as BigBIO's own tests read it."""
    entities = 0
    for row in rows_of(name):
        text = " ".join(part for passage in row["passages"] for part in passage["text"])
        for one in [*row["passages"], *row["entities"]]:
            [[start, end]] = one["offsets"]
            assert [text[start:end]] == one["text"]
        ids = [one["id"] for one in [*row["passages"], *row["entities"], *row["relations"]]]
        assert len(ids) == len(set(ids))
        entities += len(row["entities"])
    assert entities == (23 if name == "ner" else 24)


def test_sentences_of_a_document_are_one_row() -> None:
    rows, examples = rows_of("ner"), toy.examples("ner")
    assert [row["document_id"] for row in rows] == list(dict.fromkeys(one.document for one in examples))
    assert [part["id"] for row in rows for part in row["passages"]] == [one.id for one in examples]
    assert {one["type"] for row in rows for one in row["entities"]} == {"Disease", "Chemical"}


def test_a_pair_without_a_relation_has_none() -> None:
    for row, one in zip(rows_of("rel"), toy.examples("rel"), strict=True):
        assert isinstance(one, SequenceExample) and (row["id"], row["document_id"]) == (one.id, one.document)
        assert [found["type"] for found in row["relations"]] == [one.label] * (one.label != "none")


def test_texts_pairs_and_questions_keep_their_answers() -> None:
    assert [row["labels"] for row in rows_of("doc")] == [one.labels for one in toy.examples("doc")]  # type: ignore[attr-defined]
    assert rows_of("sim")[0] == {
        "id": "7", "document_id": "7", "text_1": "One 1.", "text_2": "Two 1.", "label": "1.25",
    }  # fmt: skip
    question = rows_of("qa")[0]
    assert (question["question_id"], question["type"], question["answer"]) == ("q1", "factoid", ["gene1"])


@pytest.mark.parametrize("name", ["sim", "doc"])
def test_a_row_names_its_document_or_else_its_example(name: str) -> None:
    one: Any = toy.examples(name)[0]
    for document, expected in ((None, one.id), ("PMID1", "PMID1")):
        table = to_bigbio([replace(one, document=document)], toy.KINDS[name], TASKS[name], LABELS[name], None)
        [row] = table.to_pylist()
        assert row["document_id"] == expected


def test_every_task_has_a_schema() -> None:
    pair: Any = SequenceExample(id="1", document=None, text="Does it?", text_pair="It does.", label="yes")
    for kind, tasks in OF_KIND.items():
        assert all(schema_name(kind, task) in SCHEMAS for task in tasks)
    [asked] = to_bigbio([pair], "sequence", "yes-no", ["no", "yes"], None).to_pylist()
    assert (asked["question"], asked["context"], asked["answer"]) == ("Does it?", "It does.", ["yes"])
    assert asked["choices"] == ["no", "yes"]
    [inferred] = to_bigbio([pair], "sequence", "inference", [], None).to_pylist()
    assert (inferred["premise"], inferred["hypothesis"], inferred["label"]) == ("Does it?", "It does.", "yes")
    [labelled] = to_bigbio([pair], "sequence", "classification", [], None).to_pylist()
    assert labelled["labels"] == ["yes"]

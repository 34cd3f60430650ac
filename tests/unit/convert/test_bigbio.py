"""BigBIO's schemas: texts at their offsets, and ids of the examples."""

from dataclasses import replace
from typing import Any

import pytest

from pubmill.convert.bigbio import SCHEMAS, schema_name, to_bigbio
from pubmill.examples.kinds import Entity, MentionsExample, RelationsExample, SequenceExample, WordSpan
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


def related(document: str | None = "d1") -> RelationsExample:
    """Return a text with two mentions of one concept, and relations, two of them of unmentioned concepts."""
    text = "Pain and drug and pain."
    return RelationsExample(
        id="7", document=document, text=text,
        entities=[
            Entity(start=start, end=start + 4, type=kind, id=name)
            for start, kind, name in ((0, "Disease", "D1"), (9, "Chemical", "C1"), (18, "Disease", "D1"))
        ],
        pairs=[["C1", "D1"]],
        relations=[["C1", "C9", "causes"], ["C1", "D1", "causes", "Novel"], ["C9", "D1", "binds"]],
    )  # fmt: skip


def test_relations_of_concepts_are_between_their_first_mentions() -> None:
    table = to_bigbio([related()], "relations", "concept-relation", [], None)
    [row] = table.to_pylist()
    assert table.schema == SCHEMAS["kb"]
    assert (row["id"], row["document_id"], row["events"], row["coreferences"]) == ("7", "d1", [], [])
    assert row["passages"] == [
        {"id": "7_P1", "type": "text", "text": ["Pain and drug and pain."], "offsets": [[0, 23]]}
    ]
    assert [(one["id"], one["type"], one["text"], one["offsets"]) for one in row["entities"]] == [
        ("7_T1", "Disease", ["Pain"], [[0, 4]]), ("7_T2", "Chemical", ["drug"], [[9, 13]]),
        ("7_T3", "Disease", ["pain"], [[18, 22]]),
    ]  # fmt: skip
    assert [one["normalized"] for one in row["entities"]] == [
        [{"db_name": "source", "db_id": name}] for name in ("D1", "C1", "D1")
    ]
    # numbered by their place in the example; those of a concept without mentions are left out
    assert row["relations"] == [
        {"id": "7_R2", "type": "causes", "arg1_id": "7_T2", "arg2_id": "7_T1", "normalized": []}
    ]
    [row] = to_bigbio([related(None)], "relations", "concept-relation", [], None).to_pylist()
    assert row["document_id"] == "7"


def test_nested_mentions_stand_at_their_offsets_in_the_document() -> None:
    sentences = [
        MentionsExample(id=f"s{n}", document="d1", words=["Old", "drug"], mentions=mentions)
        for n, mentions in ((1, [WordSpan(0, 2, "A"), WordSpan(1, 2, "")]), (2, [WordSpan(0, 1, "B")]))
    ]
    [row] = to_bigbio(sentences, "mentions", "nested-ner", [], None).to_pylist()
    assert (row["id"], row["document_id"]) == ("s1", "d1")
    assert [(one["id"], one["type"], one["text"], one["offsets"]) for one in row["entities"]] == [
        ("s1_T1", "A", ["Old drug"], [[0, 8]]), ("s1_T2", "mention", ["drug"], [[4, 8]]),
        ("s2_T1", "B", ["Old"], [[9, 12]]),
    ]  # fmt: skip
    assert [one["offsets"] for one in row["passages"]] == [[[0, 8]], [[9, 17]]]


def test_a_pair_with_one_mention_has_no_relation_and_concepts_are_kept() -> None:
    [one, *_] = toy.examples("rel")
    assert isinstance(one, SequenceExample)
    entities = [replace(one.entities[0], id="D1"), one.entities[1]]
    both = [replace(one, entities=entities[:number]) for number in (2, 1)]
    rows = to_bigbio(both, "sequence", "relation", [], "none").to_pylist()
    concept = {"db_name": "source", "db_id": "D1"}
    assert [found["normalized"] for found in rows[0]["entities"]] == [[concept], []]
    assert [(found["arg1_id"], found["arg2_id"]) for found in rows[0]["relations"]] == [
        (f"{one.id}_T1", f"{one.id}_T2")
    ]
    assert rows[1]["relations"] == []

"""New text and rows: words, units, and what is written; with models that follow a rule."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pubmill.errors import PubmillError
from pubmill.examples.kinds import KINDS, Entity, LabelledSentence
from pubmill.finetuning.finetuning_job import FinetuningJob, read_split
from pubmill.finetuning.predicting import DivergenceError
from pubmill.finetuning.run import Run, finetune
from pubmill.finetuning.task_models import keep, load_task_model
from pubmill.formats.document_files import FORMATS
from pubmill.formats.documents import InputDocument, Passage, TextMention
from pubmill.prediction.annotated_files import example_of
from pubmill.prediction.annotating import Annotator, load_splitter, own_types, units, words
from tests.unit.prediction.toy_annotators import annotated, fake, relater, tagger
from tests.unit.programs import run_verb
from tests.unit.tiny_encoders import tiny_bert
from tests.unit.toy_tasks import SYLLABLES, TOKENS, write_dataset

ANYTHING = st.text(max_size=60)


@given(ANYTHING)
def test_words_are_all_characters_but_blanks_in_order(text: str) -> None:
    spans = words(text)
    assert "".join(text[start:end] for start, end in spans) == "".join(text.split())
    assert spans == sorted(spans) and all(start < end for start, end in spans)


@given(ANYTHING, st.integers(0, 100), st.booleans())
def test_units_stand_where_they_say(text: str, offset: int, by_sentence: bool) -> None:
    splitter = (lambda line: [part for part in line.split(".") if part]) if by_sentence else None
    document = InputDocument(
        id="d", where="d", passages=[Passage(text="", offset=0), Passage(text=text, offset=offset)]
    )
    found = list(units(document, splitter))
    assert all(unit.passage == 1 for unit in found)
    assert all(text[unit.start - offset : unit.end - offset] == unit.text for unit in found)
    seen = "".join(unit.text for unit in found).replace(".", "") if by_sentence else None
    assert seen is None or "".join(seen.split()) == "".join(text.replace(".", "").split())


def test_text_has_offsets_of_characters(tmp_path: Path) -> None:
    """Characters beyond the basic plane, combining marks and both kinds of line ends count as one each."""
    text = "a 😀 Ann\r\nBob Lee, e\u0301 Eve"
    row = json.loads(annotated(tagger(), tmp_path, "text", text))
    assert row["id"] == "in" and row["text"] == text
    found = [(m["start"], m["end"], m["text"], m["type"]) for m in row["annotations"]]
    assert found == [(4, 7, "Ann", "Name"), (9, 16, "Bob Lee", "Name"), (21, 24, "Eve", "Name")]


def test_labels_without_types_give_a_type_and_those_of_later_subwords_none(tmp_path: Path) -> None:
    rule = lambda example: ["B"] + ["I"] * (len(example.words) - 1)  # noqa: E731
    untyped = Annotator(fake("tokens", rule, labels=["B", "I", "O"]), [], None)
    row = json.loads(annotated(untyped, tmp_path, "text", "one two\n"))
    assert row["annotations"] == [{"start": 0, "end": 7, "text": "one two", "type": "Entity"}]
    assert json.loads(annotated(untyped, tmp_path, "jsonl", json.dumps(row))) == row
    rule = lambda example: ["O"] * len(example.words)  # noqa: E731
    assert own_types(fake("tokens", rule, labels=["O", "B-x", "I-x", "X"])) == {"x"}


def test_json_lines_keep_what_they_have(tmp_path: Path) -> None:
    """So that one tagger can follow another; a second run replaces only its own."""
    other = {"start": 0, "end": 2, "text": "so", "type": "word", "score": 0.5}
    mine = {"start": 3, "end": 6, "text": "Ann", "type": "Name"}
    row = {"id": "1", "text": "so Ann", "annotations": [mine | {"score": 1}, other]}
    out = annotated(tagger(), tmp_path, "jsonl", json.dumps(row))
    assert json.loads(out)["annotations"] == [other, mine]
    assert annotated(tagger(), tmp_path, "jsonl", out) == out
    rows = [{"id": str(number), "text": "so Ann", "year": number} for number in range(600)]
    out = annotated(tagger(), tmp_path, "jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert [json.loads(line) for line in out.splitlines()] == [row | {"annotations": [mine]} for row in rows]


ROWS: dict[str, dict[str, Any]] = {
    "tokens": {"id": "1", "words": ["a", "b"]},
    "sequence": {"id": "1", "text": "ab", "entities": [{"start": 0, "end": 1, "type": "x"}]},
    "multilabel": {"id": "1", "text": "ab", "sentences": [{"start": 0, "end": 1}]},
    "regression": {"id": "1", "text": "ab", "text_pair": "c"},
    "span": {"id": "1", "question": "ab", "context": "c"},
}


@pytest.mark.parametrize("kind", ROWS)
def test_rows_of_every_kind_need_no_labels_and_have_confidences_if_asked(kind: str, tmp_path: Path) -> None:
    predictor = fake(kind, lambda example: "x")
    sure: Any = [0.9, 0.7889] if kind == "tokens" else 0.7
    for further in ({}, {"confidence": sure}):
        annotator = Annotator(predictor, [], None, confidences=bool(further))
        lines = "".join(json.dumps({**ROWS[kind], "id": str(number)}) + "\n" for number in range(3))
        out = annotated(annotator, tmp_path, "jsonl", lines)
        expected = [{"id": str(number), "predicted": "x"} | further for number in range(3)]
        assert [json.loads(line) for line in out.splitlines()] == expected


def test_rows_have_what_their_examples_have() -> None:
    sequence: Any = example_of(ROWS["sequence"], fake("sequence", str).task, "x")
    assert sequence.entities == [Entity(start=0, end=1, type="x")] and sequence.document is None
    several: Any = example_of(ROWS["multilabel"], fake("multilabel", str).task, "x")
    assert several.sentences == [LabelledSentence(start=0, end=1, labels=[])]


@pytest.mark.parametrize("kind", ROWS)
def test_rows_with_faults_are_reported_without_their_text(kind: str, tmp_path: Path) -> None:
    annotator = Annotator(fake(kind, lambda example: "x"), [], None)
    broken = {"text": "\ud83d", "words": ["\ud83d"]}
    for wrong in ({"id": 3}, {"secret": "secret"}, {"entities": [3]}, broken):
        lines = json.dumps(ROWS[kind]) + "\n" + json.dumps({**ROWS[kind], **wrong}) + "\n"
        with pytest.raises(PubmillError, match=r"in:2: ") as caught:
            annotated(annotator, tmp_path, "jsonl", lines)
        assert "secret" not in str(caught.value)
        assert {path.name for path in tmp_path.iterdir()} == {"in"}


@pytest.mark.parametrize("form", FORMATS)
def test_a_model_without_arguments_reads_rows_alone(form: str, tmp_path: Path) -> None:
    annotator = Annotator(fake("regression", lambda example: 1.0), [], None)
    if form == "jsonl":
        assert annotated(annotator, tmp_path, form, json.dumps(ROWS["regression"]) + "\n")
        return
    with pytest.raises(PubmillError, match=r"regression\) reads JSON lines"):
        annotated(annotator, tmp_path, form, "")


def test_scores_that_are_no_numbers_leave_no_file_and_an_empty_file_an_empty_one(tmp_path: Path) -> None:
    assert annotated(tagger(), tmp_path, "pubtator", "") == annotated(tagger(), tmp_path, "jsonl", "") == ""

    def fails(example: Any) -> None:
        raise DivergenceError

    with pytest.raises(PubmillError, match="not numbers"):
        annotated(Annotator(fake("tokens", fails), [], None), tmp_path, "text", "a")
    assert (tmp_path / "out").read_text() == ""


def test_the_program_gives_what_the_model_predicts(tmp_path: Path) -> None:
    """On words as they are; on text, of which these are the words too; and the same bytes each time."""
    model, dataset = tiny_bert(tmp_path / "base", SYLLABLES), write_dataset(tmp_path / "data", "tokens")
    run = finetune(FinetuningJob(TOKENS, model, dataset, 1, "test"))
    assert isinstance(run, Run)
    keep(tmp_path / "kept", run.task, run.model, run.report, dataset)
    examples = read_split(dataset, "test", KINDS["tokens"])
    rows = "".join(json.dumps({"id": one.id, "words": one.words}) + "\n" for one in examples)
    texts = "".join(json.dumps({"id": one.id, "text": " ".join(one.words)}) + "\n" for one in examples)

    (tmp_path / "in.jsonl").write_text(texts)
    assert run_verb("predict", tmp_path / "kept", tmp_path / "in.jsonl", tmp_path / "program").returncode == 0
    annotator = Annotator(load_task_model(tmp_path / "kept", torch.device("cpu")), [], None)
    out = annotated(annotator, tmp_path, "jsonl", texts)
    assert out == (tmp_path / "program").read_text()
    assert annotated(annotator, tmp_path, "jsonl", out) == out  # a second run replaces its own
    for row, found in zip(run.predictions, map(json.loads, out.splitlines()), strict=True):
        assert len(found["annotations"]) == sum(label.startswith("B") for label in row["labels"])
    out = annotated(annotator, tmp_path, "jsonl", rows)
    assert [json.loads(line) for line in out.splitlines()] == run.predictions


def mentioned(text: str, offset: int, **types: str) -> InputDocument:
    """A document of one passage, with a mention of the given type for each of these words."""
    mentions = [
        TextMention(
            start=offset + text.index(word), end=offset + text.index(word) + len(word), type=kind, text=word
        )
        for word, kind in types.items()
    ]
    return InputDocument(id="d", where="d", passages=[Passage(text=text, offset=offset, mentions=mentions)])


def related(annotator: Annotator, document: InputDocument) -> list[tuple[str, str, str]]:
    (found,) = annotator.annotate([document])
    assert found.relations is not None and found.mentions is None
    return [(one.type, one.arguments[0].text, one.arguments[1].text) for one in found.relations[0]]


def test_arguments_are_in_the_order_of_training() -> None:
    """A drug before its gene, wherever it stands; two drugs as they stand; two genes are never asked for."""
    text = mentioned("EGFR binds aspirin or ibuprofen, not TP53", 5, EGFR="gene", aspirin="drug")
    assert related(relater(), text) == [("binds", "aspirin", "EGFR")]
    text = mentioned("so aspirin binds ibuprofen", 5, ibuprofen="drug", aspirin="drug")
    assert related(relater(), text) == [("binds", "aspirin", "ibuprofen")]
    assert related(relater(), mentioned("EGFR binds TP53", 5, EGFR="gene", TP53="gene")) == []
    assert related(relater(), mentioned("EGFR ignores aspirin", 0, EGFR="gene", aspirin="drug")) == []


def test_mentions_that_no_pair_can_hold_are_counted() -> None:
    """Those of a type without relations, and those of which a part is in another line."""
    annotator = relater()
    words = {"a drug\nbinds": "drug", "gene": "gene", "here": "x"}
    assert related(annotator, mentioned("a drug\nbinds a gene here", 3, **words)) == []
    counts = annotator.counts
    assert (counts["mentions_across_units"], counts["mentions_of_other_types"]) == (1, 1)
    assert related(annotator, mentioned("EGFR binds aspirin", 3, EGFR="gene", aspirin="drug"))
    assert (counts["mentions_across_units"], counts["mentions_of_other_types"]) == (1, 1)


@pytest.mark.parametrize(
    ("sure", "written"),
    [
        (0.123456, 0.1235),
        ([0.99995, 0.00004], [1.0, 0.0]),
        ({"a": 2 / 3, "b": 1 / 3}, {"a": 0.6667, "b": 0.3333}),
    ],
)
def test_confidences_of_every_form_have_four_decimals(sure: Any, written: Any) -> None:
    predictor = fake("sequence", lambda example: "yes")
    predictor.predict_with_confidences = lambda split: [("yes", sure) for _ in split.examples]
    annotator = Annotator(predictor, [], None, confidences=True)
    example = example_of(ROWS["sequence"], predictor.task, "x")
    assert annotator.predict([example]) == [("yes", written)]
    assert annotator.counts == {"windows_split": 1}


def test_without_an_archive_lines_are_not_split() -> None:
    document = InputDocument(id="d", where="d", passages=[Passage(text="One. Two.\n\n ?! \n...a", offset=2)])
    found = [(one.start, one.end, one.text) for one in units(document, load_splitter(None))]
    assert found == [(2, 11, "One. Two."), (13, 17, " ?! "), (18, 22, "...a")]


def test_a_pair_is_asked_with_its_line_and_the_places_in_it() -> None:
    asked: list[Any] = []

    def ask(example: Any) -> str:
        asked.append(example)
        return "no"

    annotator = Annotator(fake("sequence", ask, "no", ["binds", "no"]), [["drug", "gene"]], None)
    document = mentioned("first line\nEGFR binds aspirin", 5, EGFR="gene", aspirin="drug")
    assert related(annotator, document) == []
    places = [Entity(start=11, end=18, type="drug"), Entity(start=0, end=4, type="gene")]
    assert [(one.text, one.label, one.entities) for one in asked] == [("EGFR binds aspirin", "binds", places)]

"""New text: formats, words, candidates, and what is written; with models that follow a rule."""

import io
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from pubmill.errors import PubmillError
from pubmill.examples import KINDS, Entity, LabelledSentence
from pubmill.finetuning.inputs import Encoded
from pubmill.finetuning.keeping import keep, load_task_model
from pubmill.finetuning.predicting import DivergenceError
from pubmill.finetuning.run import finetune
from pubmill.finetuning.splits import read_split
from pubmill.prediction.annotating import Annotator
from pubmill.prediction.documents import Document, Passage
from pubmill.prediction.formats import FORMATS, annotate_file, format_of
from pubmill.prediction.rows import example_of
from pubmill.prediction.units import units, words
from tests.unit.test_task_models import TOKENS, write_bert, write_dataset

ROOT = Path(__file__).resolve().parents[2]
ANYTHING = st.text(max_size=60)


def fake(task: str, rule: Callable[[Any], Any], negative: str | None = None) -> Any:
    """A predictor whose predictions follow a rule on examples."""
    recipe = SimpleNamespace(task=task, negative=negative)
    encode = SimpleNamespace(
        recipe=recipe,
        kind=KINDS[task],
        labels=["no", "yes"],
        encode=lambda examples: Encoded(instances=[], counts={"windows_split": len(examples)}),
        row=lambda example, predicted: {"id": example.id, "predicted": predicted},
    )
    predict = lambda split: [rule(example) for example in split.examples]  # noqa: E731
    return SimpleNamespace(recipe=recipe, task=encode, predict=predict)


def capitals(example: Any) -> list[str]:
    """Words with a first capital are mentions; directly after another, the same one."""
    labels = ["O"]
    for word in example.words:
        capital = word[0].isupper()
        labels.append("O" if not capital else "I-Name" if labels[-1] != "O" else "B-Name")
    return labels[1:]


def tagger() -> Annotator:
    return Annotator(fake("tokens", capitals), [], None)


def between(example: Any) -> str:
    """A relation wherever "binds" stands."""
    first, second = example.entities
    assert example.text[first.start : first.end] and example.text[second.start : second.end]
    return "binds" if "binds" in example.text else "no"


def relater() -> Annotator:
    return Annotator(fake("sequence", between, "no"), [["drug", "gene"], ["drug", "drug"]], None)


def annotated(annotator: Annotator, folder: Path, form: str, content: str) -> str:
    source, target = folder / "in", folder / "out"
    source.write_bytes(content.encode())
    annotate_file(annotator, source, target, form)
    return target.read_bytes().decode()


@given(ANYTHING)
def test_words_are_all_characters_but_blanks_in_order(text: str) -> None:
    spans = words(text)
    assert "".join(text[start:end] for start, end in spans) == "".join(text.split())
    assert spans == sorted(spans) and all(start < end for start, end in spans)


@given(ANYTHING, st.integers(0, 100), st.booleans())
def test_units_stand_where_they_say(text: str, offset: int, by_sentence: bool) -> None:
    splitter = (lambda line: [part for part in line.split(".") if part]) if by_sentence else None
    document = Document(
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
    assert [(m["start"], m["end"], m["text"]) for m in row["annotations"]] == [
        (4, 7, "Ann"),
        (9, 16, "Bob Lee"),
        (21, 24, "Eve"),
    ]
    assert {m["type"] for m in row["annotations"]} == {"Name"}


def test_labels_without_types_give_a_type(tmp_path: Path) -> None:
    untyped = Annotator(fake("tokens", lambda example: ["B"] + ["I"] * (len(example.words) - 1)), [], None)
    [mention] = json.loads(annotated(untyped, tmp_path, "text", "one two\n"))["annotations"]
    assert mention == {"start": 0, "end": 7, "text": "one two", "type": "Entity"}


def test_json_lines_keep_what_they_have(tmp_path: Path) -> None:
    rows = [{"id": str(number), "text": "so Ann", "year": number} for number in range(600)]
    lines = annotated(
        tagger(), tmp_path, "jsonl", "".join(json.dumps(row) + "\n" for row in rows)
    ).splitlines()
    found = [json.loads(line) for line in lines]
    assert [{key: row[key] for key in ("id", "text", "year")} for row in found] == rows
    assert all(row["annotations"] == [{"start": 3, "end": 6, "text": "Ann", "type": "Name"}] for row in found)


PUBTATOR = (
    "12|t|Ann sees\n12|a|é then Bob. binds gene\n12\t0\t3\tAnn\tdrug\tD1\n12\t16\t19\tBob\tdrug\tD2\n"
    "12\t27\t31\tgene\tgene\tG1\n12\tCID\tD1\tG1\n\n\n13|t|Eve\n13|a|\n"
)


def test_pubtator_mentions_replace_those_of_the_file(tmp_path: Path) -> None:
    annotator = tagger()
    assert annotated(annotator, tmp_path, "pubtator", PUBTATOR) == (
        "12|t|Ann sees\n12|a|é then Bob. binds gene\n12\t0\t3\tAnn\tName\n12\t16\t19\tBob\tName\n\n"
        "13|t|Eve\n13|a|\n13\t0\t3\tEve\tName\n\n"
    )
    assert (annotator.counts["mentions_replaced"], annotator.counts["relations_replaced"]) == (3, 1)


def test_pubtator_relations_of_mentions_in_one_passage(tmp_path: Path) -> None:
    """Bob and the gene, in the abstract; Ann is in the title, where nothing else is."""
    annotator = relater()
    out = annotated(annotator, tmp_path, "pubtator", PUBTATOR)
    assert [line for line in out.splitlines() if "\tbinds" in line or "CID" in line] == ["12\tbinds\tD2\tG1"]
    assert out.count("\tdrug\t") == 2 and annotator.counts["relations_replaced"] == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("12|a|x\n", r"in:1: a document begins"),
        ("12|t|Ann\n12|a|\n13\t0\t3\tAnn\tx\n", r"in:3: expected .* 12"),
        ("12|t|Ann\n12|a|\n12\t1\t3\tAnn\tx\n", r"in:3: .*isn't what stands"),
        ("12|t|Ann\n12|a|\n12\t0\t3\tAnn\n", r"in:3: a mention has the columns"),
        ("12|t|Ann\n\n\x80", "no error"),
    ],
)
def test_pubtator_faults_are_told_with_their_line(tmp_path: Path, content: str, message: str) -> None:
    if message == "no error":
        (tmp_path / "in").write_bytes(b"12|t|Ann\n\x80")
        with pytest.raises(PubmillError, match="not UTF-8"):
            annotate_file(tagger(), tmp_path / "in", tmp_path / "out", "pubtator")
        return
    with pytest.raises(PubmillError, match=message) as caught:
        annotated(tagger(), tmp_path, "pubtator", content)
    assert "Ann" not in str(caught.value) and not (tmp_path / "out").exists()


def test_pubtator_relations_need_identifiers(tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="sixth column"):
        annotated(
            relater(),
            tmp_path,
            "pubtator",
            PUBTATOR.replace("\tD2", "").replace("\tCID\tD1\tG1", "\tCID\ta\tb"),
        )


def bioc(sentences: bool = False) -> dict[str, Any]:
    """Two passages; the second one begins at character 10, its mentions are of three types."""
    text = "a drug binds a gene"
    mentions = [
        {"id": "1", "infons": {"type": "gene"}, "text": "gene", "locations": [{"offset": 25, "length": 4}]},
        {"id": "2", "infons": {"type": "drug"}, "text": "drug", "locations": [{"offset": 12, "length": 4}]},
        {"id": "3", "infons": {"type": "other"}, "text": "binds", "locations": [{"offset": 17, "length": 5}]},
    ]
    holder = {"offset": 10, "text": text, "annotations": mentions, "relations": [{"id": "old", "nodes": []}]}
    passages = [{"infons": {"type": "title"}, "offset": 0, "text": "Of, Ann"}]
    passages.append({"offset": 10, "sentences": [holder]} if sentences else holder)
    return {"source": "us", "date": "", "key": "k", "documents": [{"id": "7", "passages": passages}]}


@pytest.mark.parametrize("sentences", [False, True])
def test_bioc_json_relations_and_mentions(tmp_path: Path, sentences: bool) -> None:
    given_in = bioc(sentences)
    out = json.loads(annotated(relater(), tmp_path, "bioc-json", json.dumps(given_in)))
    [_, passage] = out["documents"][0]["passages"]
    holder = passage["sentences"][0] if sentences else passage
    [relation] = holder["relations"]
    assert relation["infons"] == {"type": "binds"} and relation["id"] == "R1"
    assert relation["nodes"] == [{"refid": "2", "role": "drug"}, {"refid": "1", "role": "gene"}]
    assert len(holder["annotations"]) == 3 and out["key"] == "k"
    out = json.loads(annotated(tagger(), tmp_path, "bioc-json", json.dumps(bioc(sentences))))
    [title, passage] = out["documents"][0]["passages"]
    assert title["annotations"][0]["locations"] == [{"offset": 0, "length": 2}]
    assert title["annotations"][1] == {
        "id": "T2", "infons": {"type": "Name"}, "text": "Ann", "locations": [{"offset": 4, "length": 3}],
    }  # fmt: skip
    assert "old" not in json.dumps(out)


XML = """<?xml version='1.0' encoding='UTF-8'?>
<!DOCTYPE collection SYSTEM "BioC.dtd">
<collection><source>us</source><date/><key>k</key><infon key="a">&lt;b&gt;</infon>
<document><id>7</id>
<passage><infon key="type">title</infon><offset>0</offset><text>Of, Ann &amp; é</text></passage>
<passage><offset>12</offset><text>a drug binds a gene</text>
<annotation id="2"><infon key="type">drug</infon>
<location offset="14" length="4"/><text>drug</text></annotation>
<annotation id="1"><infon key="type">gene</infon>
<location offset="27" length="4"/><text>gene</text></annotation>
<relation id="old"><infon key="type">x</infon><node refid="1" role="r"/></relation>
</passage></document></collection>
"""


def test_bioc_xml_is_written_in_its_own_form(tmp_path: Path) -> None:
    out = annotated(relater(), tmp_path, "bioc-xml", XML)
    assert out.splitlines()[1] == '<!DOCTYPE collection SYSTEM "BioC.dtd">'
    root = etree.fromstring(out.encode())
    assert [relation.get("id") for relation in root.iter("relation")] == ["R1"]
    assert [(node.get("refid"), node.get("role")) for node in root.iter("node")] == [
        ("2", "drug"),
        ("1", "gene"),
    ]
    assert root.findtext("infon") == "<b>" and root.findtext("document/passage/text") == "Of, Ann & é"
    again = annotated(tagger(), tmp_path, "bioc-xml", out)
    locations = [dict(location.attrib) for location in etree.fromstring(again.encode()).iter("location")]
    assert locations == [{"offset": "0", "length": "2"}, {"offset": "4", "length": "3"}]
    assert "relation" not in again


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('SYSTEM "BioC.dtd"', '[<!ENTITY x SYSTEM "file:///etc/passwd">]', "declares entities"),
        ("&amp;", "&undeclared;", "must hold text alone"),
        ("<date/>", "<date/><new/>", "`collection` holds"),
        ("<offset>12<", "<offset>x<", "number of characters"),
        ('offset="14"', 'offset="15"', "count characters, not bytes"),
        ('length="4"/><text>drug', 'size="4"/><text>drug', "no such attributes"),
        ("</document>", "", "not well-formed"),
        ("collection", "corpus", "outermost element"),
        ("<id>7</id>", "", "needs an `id`"),
    ],
)
def test_bioc_xml_faults(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(PubmillError, match=message) as caught:
        annotated(relater(), tmp_path, "bioc-xml", XML.replace(old, new))
    assert "in" in str(caught.value) and "binds" not in str(caught.value)
    assert {path.name for path in tmp_path.iterdir()} == {"in"}


def damage(value: Any, generator: random.Random) -> Any:
    """One thing of a JSON value replaced by something else."""
    if isinstance(value, dict | list) and value and generator.random() < 0.85:
        key = generator.choice(list(value) if isinstance(value, dict) else range(len(value)))
        made = value.copy()
        made[key] = damage(value[key], generator)
        return made
    return generator.choice([None, 3, -1, "x", [], {}, [1], True, {"id": 1}, "\ud83d"])


@given(st.integers(0, 10**6))
def test_damaged_bioc_is_an_error_that_can_be_read_or_written_whole(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    folder = tmp_path_factory.mktemp("damage")
    content = json.dumps(damage(bioc(seed % 2 == 0), random.Random(seed)))
    for annotator in (tagger(), relater()):
        try:
            json.loads(annotated(annotator, folder, "bioc-json", content))
        except PubmillError as error:
            assert "in" in str(error)


def test_mentions_across_lines_are_counted(tmp_path: Path) -> None:
    content = bioc()
    content["documents"][0]["passages"][1]["text"] = "a drug bin\ns a gene"
    content["documents"][0]["passages"][1]["annotations"][2]["text"] = "bin\ns"
    annotator = relater()
    annotated(annotator, tmp_path, "bioc-json", json.dumps(content))
    assert annotator.counts["mentions_across_units"] == 1 and annotator.counts["mentions_of_other_types"] == 1


ROWS: dict[str, dict[str, Any]] = {
    "tokens": {"id": "1", "words": ["a", "b"]},
    "sequence": {"id": "1", "text": "ab", "entities": [{"start": 0, "end": 1, "type": "x"}]},
    "multilabel": {"id": "1", "text": "ab", "sentences": [{"start": 0, "end": 1}]},
    "regression": {"id": "1", "text": "ab", "text_pair": "c"},
    "span": {"id": "1", "question": "ab", "context": "c"},
}


@pytest.mark.parametrize("kind", ROWS)
def test_rows_of_every_kind_need_no_labels(kind: str, tmp_path: Path) -> None:
    annotator = Annotator(fake(kind, lambda example: "x"), [], None)
    lines = "".join(json.dumps({**ROWS[kind], "id": str(number)}) + "\n" for number in range(3))
    out = annotated(annotator, tmp_path, "jsonl", lines)
    assert [json.loads(line) for line in out.splitlines()] == [
        {"id": str(n), "predicted": "x"} for n in range(3)
    ]


def test_rows_have_what_their_examples_have() -> None:
    sequence: Any = example_of(ROWS["sequence"], fake("sequence", str).task, "x")
    assert sequence.entities == [Entity(start=0, end=1, type="x")] and sequence.document is None
    several: Any = example_of(ROWS["multilabel"], fake("multilabel", str).task, "x")
    assert several.sentences == [LabelledSentence(start=0, end=1, labels=[])]


@pytest.mark.parametrize("kind", ROWS)
def test_rows_with_faults_are_told_without_their_text(kind: str, tmp_path: Path) -> None:
    annotator = Annotator(fake(kind, lambda example: "x"), [], None)
    for wrong in (
        {"id": 3},
        {"secret": "secret"},
        {"entities": [3]},
        {"text": "\ud83d", "words": ["\ud83d"]},
    ):
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
    with pytest.raises(PubmillError, match="regression reads JSON lines"):
        annotated(annotator, tmp_path, form, "")


def test_scores_that_are_no_numbers_leave_no_file(tmp_path: Path) -> None:
    def fails(example: Any) -> None:
        raise DivergenceError

    with pytest.raises(PubmillError, match="no numbers"):
        annotated(Annotator(fake("tokens", fails), [], None), tmp_path, "text", "a")
    assert {path.name for path in tmp_path.iterdir()} == {"in"}


def test_names_tell_formats() -> None:
    assert format_of(Path("a/b.json")) == "bioc-json" and format_of(Path("x.PubTator".lower())) == "pubtator"
    with pytest.raises(PubmillError, match="--format"):
        format_of(Path("x.doc"))


def test_an_empty_file_gives_an_empty_file(tmp_path: Path) -> None:
    assert annotated(tagger(), tmp_path, "pubtator", "") == annotated(tagger(), tmp_path, "jsonl", "") == ""


def test_written_while_read_is_not_needed_whole() -> None:
    """PubTator documents are written as they come, not when the last one is read."""
    output = io.StringIO()
    file: Any = FORMATS["pubtator"](Path("unused"))

    def source() -> Any:
        yield Document(id="1", where="", passages=[], source=(["1|t|a"], []))
        assert output.getvalue() == "1|t|a\n\n"

    from pubmill.prediction.documents import Annotated

    file.write((Annotated(document=one) for one in source()), output)


def test_the_program_gives_what_the_model_predicts(tmp_path: Path) -> None:
    """On words as they are; on text, of which these are the words too; and the same bytes each time."""
    model, dataset = write_bert(tmp_path / "base"), write_dataset(tmp_path / "data", "tokens")
    run = finetune(TOKENS, model, dataset, 1, "test")
    keep(tmp_path / "kept", run.task, run.model, run.account, dataset)
    examples = read_split(dataset, "test", KINDS["tokens"])
    rows = "".join(json.dumps({"id": one.id, "words": one.words}) + "\n" for one in examples)
    texts = "".join(json.dumps({"id": one.id, "text": " ".join(one.words)}) + "\n" for one in examples)

    (tmp_path / "in.jsonl").write_text(texts)
    command = [sys.executable, str(ROOT / "scripts/predict.py"), "--model", str(tmp_path / "kept")]
    command += ["--input", str(tmp_path / "in.jsonl"), "--output", str(tmp_path / "program")]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    annotator = Annotator(load_task_model(tmp_path / "kept", torch.device("cpu")), [], None)
    out = annotated(annotator, tmp_path, "jsonl", texts)
    assert out == (tmp_path / "program").read_text()
    for row, found in zip(run.predictions, map(json.loads, out.splitlines()), strict=True):
        assert len(found["annotations"]) == sum(label.startswith("B") for label in row["labels"])
    out = annotated(annotator, tmp_path, "jsonl", rows)
    assert [json.loads(line) for line in out.splitlines()] == run.predictions

"""i2b2 2010: concepts and relations of notes, and errors for files that contradict their note."""

from pathlib import Path

import pytest

from pubmill.convert import i2b2_2010
from pubmill.convert.source_files import ConverterInput
from pubmill.errors import PubmillError
from pubmill.examples.argument_transforms import dummies
from pubmill.examples.kinds import Entity, SequenceExample
from pubmill.messages.quotations import withholding
from tests.clinical import DEV, given, pack
from tests.dataset_specs import spec_of
from tests.world.part import CANARY

TRAIN = "concept_assertion_relation_training_data"
TEXT = f"{CANARY} was seen\r\n\r\n Severe  pain after surgery\r\nMRI showed pain , no fever .\r\n"
CON = """\
c="severe pain" 3:1 3:2||t="problem"
c="surgery" 3:4 3:4||t="treatment"
c="mri" 4:0 4:0||t="test"
c="pain" 4:2 4:2||t="problem"
c="fever" 4:5 4:5||t="problem"
"""
REL = """\
c="surgery" 3:4 3:4||r="TrCP"||c="severe pain" 3:1 3:2
c="mri" 4:0 4:0||r="TeRP"||c="pain" 4:2 4:2
c="mri" 4:0 4:0||r="TeCP"||c="pain" 4:2 4:2
"""


def archives(
    folder: Path, text: str = TEXT, con: str | None = CON, rel: str | None = REL, blank: str = ""
) -> ConverterInput:
    """Return the sources with one test note, `0017`, and four train notes without concepts."""
    train = {
        f"{TRAIN}/{hospital}/{kind}/{hospital}-{number}.{end}": "Hello .\n" if end == "txt" else blank
        for hospital in i2b2_2010.HOSPITALS
        for number in (1, 2)
        for kind, end in (("txt", "txt"), ("concept", "con"), ("rel", "rel"), ("ast", "ast"))
    }
    test = {
        "s/concepts/0017.con": con, "s/rel/0017.rel": rel, "s/.DS_Store": "", "s/concepts/._0017.con": "x",
    }  # fmt: skip
    inputs = {
        "train": pack(folder / "train.tar.gz", train),
        "test": pack(folder / "ref.tar.gz", {name: t for name, t in test.items() if t is not None}),
        "test_texts": pack(folder / "texts.tar.gz", {"test_data/0017.txt": text}),
    }
    return given("test", inputs, dev=DEV)


def of_split(source: ConverterInput, split: str) -> ConverterInput:
    return given(split, source.inputs, **source.options)


def test_concepts_label_words_and_every_two_of_a_line_are_an_example(tmp_path: Path) -> None:
    source = archives(tmp_path)
    examples = list(i2b2_2010.concepts(source))
    assert [(e.id, e.document) for e in examples] == [
        ("0017.1", "0017"), ("0017.3", "0017"), ("0017.4", "0017"),
    ]  # fmt: skip
    assert examples[1].words == ["Severe", "pain", "after", "surgery"]
    assert examples[1].labels == ["B-problem", "I-problem", "O", "B-treatment"]
    assert examples[2].labels == ["B-test", "O", "B-problem", "O", "O", "B-problem", "O"]
    related = list(i2b2_2010.relations(source))
    assert related[0] == SequenceExample(
        id="0017.1.2", document="0017", text=" Severe  pain after surgery", label="TrCP",
        entities=[Entity(start=1, end=13, type="problem"), Entity(start=20, end=27, type="treatment")],
    )  # fmt: skip
    assert [(e.id, e.label) for e in related[1:]] == [
        ("0017.3.4", "TeRP"), ("0017.3.4.2", "TeCP"), ("0017.3.5", "false"), ("0017.4.5", "false"),
    ]  # fmt: skip
    assert not source.left_out


def test_the_dummy_of_concepts_that_overlap_names_both_types_in_the_files_order(tmp_path: Path) -> None:
    stand_ins = spec_of("i2b2-2010-re").dummies
    assert stand_ins is not None
    con = CON + 'c="mri showed" 4:0 4:1||t="treatment"\n'
    made = {
        example.id: dummies(example.text, example.entities, stand_ins.types, stand_ins.overlap).text
        for example in i2b2_2010.relations(archives(tmp_path, con=con))
    }
    assert made["0017.3.4"] == "@TEST$ showed @PROBLEM$ , no fever ."
    assert made["0017.3.6"] == "@TEST-TREATMENT$ pain , no fever ."


def test_concepts_over_lines_join_them_and_are_in_no_pair(tmp_path: Path) -> None:
    con = CON.replace('c="surgery" 3:4 3:4', 'c="surgery mri" 3:4 4:0').replace(
        'c="mri" 4:0 4:0||t="test"\n', ""
    )
    rel = (
        'c="surgery mri" 3:4 4:0||r="TrCP"||c="pain" 4:2 4:2\n'
        'c="pain" 4:2 4:2||r="PIP"||c="severe pain" 3:1 3:2\n'
    )
    source = archives(tmp_path, con=con, rel=rel)
    (_, joined) = i2b2_2010.concepts(source)
    assert (joined.id, joined.labels[3:6]) == ("0017.3", ["B-treatment", "I-treatment", "O"])
    assert [(e.id, e.label) for e in i2b2_2010.relations(source)] == [("0017.3.4", "false")]
    assert source.left_out == {"concepts_across_lines": 1, "relations_without_pair": 2}


def test_a_note_of_each_hospital_is_held_out(tmp_path: Path) -> None:
    source = archives(tmp_path)
    documents = {
        split: [example.document for example in i2b2_2010.concepts(of_split(source, split))]
        for split in ("train", "dev")
    }
    assert documents == {"train": ["beth-1", "partners-2"], "dev": ["beth-2", "partners-1"]}
    assert list(i2b2_2010.relations(of_split(source, "dev"))) == []


@pytest.mark.parametrize(("kind", "old", "new", "line", "message"), [
    ("con", 'c="mri" 4:0 4:0||t', 'c="mri" 9:0 9:0||t', 3, r"names line 9, but .*0017\.txt has 5 lines"),
    ("con", 'c="mri" 4:0 4:0||t', 'c="mri" 0:0 0:0||t', 3, "names line 0"),
    ("con", 'c="mri" 4:0 4:0||t', 'c="mri" 4:0 4:7||t', 3, "no tokens 4:0 to 4:7 .* 7 and 7 tokens"),
    ("con", 'c="fever" 4:5 4:5', 'c="fever" 4:5 4:4', 5, "no tokens 4:5 to 4:4"),
    ("con", 'c="fever" 4:5 4:5', 'c="fever" 4:4 4:4', 5, "has <5 char.* has <2 char"),
    ("con", 'pain" 3:1 3:2||t', 'pain" 3:0 3:2||t', 1, "has <11 char.* has <13 char"),
    ("con", 't="test"', 't="person"', 3, "type of problem, test, treatment, found <6 char"),
    ("con", 'c="mri"', 'c=mri"', 3, r'expected `c="..." L:T L:T\|\|t="TYPE"`, found <'),
    ("con", "4:2||t", "4:2222222222||t", 4, "expected `c="),
    ("rel", 'r="TeRP"', 'r="TeXP"', 2, "relation of PIP, .* found <4 char"),
    ("rel", "3:4||r=", "3:4|r=", 1, "expected `c="),
    ("rel", 'c="surgery" 3:4 3:4', 'c="after surgery" 3:3 3:4', 1, "no concept of .*0017.con is at 3:3"),
    ("rel", 'c="surgery"', 'c="surgeon"', 1, "are not from one release"),
])  # fmt: skip
def test_wrong_concepts_and_relations_are_reported(
    tmp_path: Path, kind: str, old: str, new: str, line: int, message: str
) -> None:
    text = {"con": CON, "rel": REL}[kind]
    assert text.count(old) == 1
    source = archives(tmp_path, **{kind: text.replace(old, new)})
    where = rf"ref\.tar\.gz:s/\w+/0017\.{kind}:{line}: "
    with withholding(True), pytest.raises(PubmillError, match=f"{where}.*{message}"):
        list((i2b2_2010.concepts if kind == "con" else i2b2_2010.relations)(source))


def test_missing_files_and_other_archives_notes_and_encodings_are_reported(tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match=r"0017\.rel has no 0017\.con.*tar czf"):
        list(i2b2_2010.concepts(archives(tmp_path, con=None)))
    with pytest.raises(PubmillError, match=r"has no 0017\.rel"):
        list(i2b2_2010.relations(archives(tmp_path, rel=None)))
    assert len(list(i2b2_2010.concepts(archives(tmp_path, rel=None)))) == 3
    source = archives(tmp_path)
    pack(source.inputs["test_texts"], {"test_data/0018.txt": "x\n", "test_data/0017.txt": TEXT})
    with pytest.raises(PubmillError, match=r"0018\.txt has no 0018\.con"):
        list(i2b2_2010.concepts(source))
    source = archives(tmp_path)
    pack(source.inputs["train"], {"unpacked/txt/a.txt": "x\n"})
    with pytest.raises(PubmillError, match=r"no \.txt or .* files below a folder beth.*tar czf"):
        list(i2b2_2010.concepts(of_split(source, "train")))
    pack(source.inputs["test_texts"], {"README": "x"})
    with pytest.raises(PubmillError, match=r"texts\.tar\.gz has no \.txt files\."):
        list(i2b2_2010.concepts(source))
    pack(source.inputs["test_texts"], {"test_data/0017.txt": b"Caf\xe9\n"})
    with pytest.raises(PubmillError, match=r"0017\.txt:1: not UTF-8"):
        list(i2b2_2010.concepts(source))

"""ChemProt: sentences, pairs and labels of hand-made files, and refused files."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pubmill.convert import scibert
from pubmill.convert.chemprot import read
from pubmill.convert.exports import WriterOptions
from pubmill.convert.source_files import ConverterInput
from pubmill.errors import PubmillError
from pubmill.examples.argument_transforms import dummies
from pubmill.examples.kinds import Entity, SequenceExample
from tests.world.punkt import punkt_zip

DUMMIES = {"CHEMICAL": "@CHEMICAL$", "GENE-Y": "@GENE$", "GENE-N": "@GENE$"}
TITLE = "Zolin and the zolin receptor"
FIRST, SECOND = "Zolin blocks abase and inhibits obase.", "xol was given later."
FILES = {
    "train_abstracts": f"7\t{TITLE}\t{FIRST} {SECOND}\n",
    "train_entities": (
        "7\tT1\tCHEMICAL\t0\t5\tZolin\n"
        "7\tT2\tCHEMICAL\t14\t19\tzolin\n"
        "7\tT3\tGENE-N\t14\t28\tzolin receptor\n"
        "7\tT4\tCHEMICAL\t29\t34\tZolin\n"
        "7\tT5\tGENE-Y\t42\t47\tabase\n"
        "7\tT6\tGENE-Y\t61\t66\tobase\n"
        "7\tT7\tCHEMICAL\t68\t71\txol\n"
    ),
    "train_relations": (
        "7\tCPR:6\tY \tANTAGONIST\tArg1:T4\tArg2:T5\n"
        "7\tCPR:4\tY \tINHIBITOR\tArg1:T4\tArg2:T5\n"
        "7\tCPR:2\tN \tREGULATOR\tArg1:T4\tArg2:T6\n"
        "7\tCPR:9\tY \tSUBSTRATE\tArg1:T7\tArg2:T6\n"
    ),
    "train_gold_standard": (
        "7\tCPR:4\tArg1:T4\tArg2:T5\n7\tCPR:6\tArg1:T4\tArg2:T5\n7\tCPR:9\tArg1:T7\tArg2:T6\n"
    ),
}
BLURB = {"sentences": "punkt", "labels": "last"}
BLUE = {"sentences": "punkt_merged", "labels": "each"}
Reader = Callable[..., list[SequenceExample]]


@pytest.fixture
def left_out() -> Counter[str]:
    return Counter()


@pytest.fixture
def convert(tmp_path: Path, left_out: Counter[str]) -> Reader:
    """Return a function that reads the files above, with other options or after a replacement in one."""

    def run(options: dict[str, Any] = BLURB, **changed: tuple[str, str]) -> list[SequenceExample]:
        inputs = {"punkt": tmp_path / "punkt_tab.zip"}
        inputs["punkt"].write_bytes(punkt_zip())
        for role, text in FILES.items():
            old, new = changed.get(role, ("", ""))
            assert old in text
            inputs[role] = tmp_path / f"{role}.tsv"
            inputs[role].write_text(text.replace(old, new, 1) if old else text + new, newline="")
        return list(read(ConverterInput("train", inputs, options, left_out)))

    return run


def test_every_chemical_with_every_gene_of_its_sentence(convert: Reader, left_out: Counter[str]) -> None:
    examples = convert()
    shown = [
        (e.id, e.label, dummies(e.text, e.entities, DUMMIES, "@CHEM-GENE$").text, e.document)
        for e in examples
    ]
    assert shown == [
        ("7.T1.T3", "false", "@CHEMICAL$ and the @GENE$", "7"),
        ("7.T3.T2", "false", "Zolin and the @CHEM-GENE$", "7"),
        ("7.T4.T5", "CPR:4", "@CHEMICAL$ blocks @GENE$ and inhibits obase.", "7"),
        ("7.T4.T6", "false", "@CHEMICAL$ blocks abase and inhibits @GENE$.", "7"),
    ]
    assert left_out == {
        "evaluated_pairs_across_sentences": 1, "further_labels": 1, "mentions_across_sentences": 0,
        "relations_not_evaluated": 1,
    }  # fmt: skip
    overlapping = examples[1]
    assert overlapping.text == TITLE
    assert overlapping.entities == [
        Entity(start=14, end=19, type="CHEMICAL", id="T2"),
        Entity(start=14, end=28, type="GENE-N", id="T3"),
    ]
    mentions = [overlapping.text[one.start : one.end] for one in overlapping.entities]
    assert mentions == ["zolin", "zolin receptor"]


def test_sentences_and_labels_of_blue(convert: Reader, left_out: Counter[str]) -> None:
    """A title without a full stop and a sentence in lower case are joined to their neighbours."""
    examples = convert(BLUE)
    assert {e.text for e in examples} == {f"{TITLE} {FIRST} {SECOND}"}
    assert len(examples) == 4 * 3 + 1
    of_pair = [(e.id, e.label) for e in examples if e.id.startswith("7.T4.T5")]
    assert of_pair == [("7.T4.T5", "CPR:6"), ("7.T4.T5.2", "CPR:4")]
    assert "CPR:9" in {e.label for e in examples if e.id == "7.T6.T7"}
    assert left_out["evaluated_pairs_across_sentences"] == left_out["further_labels"] == 0
    convert(train_entities=("66\tobase\n", "71\tobase. xol\n"))
    assert left_out["mentions_across_sentences"] == 1


@pytest.mark.parametrize(("role", "old", "new", "message"), [
    ("train_abstracts", f"\t{TITLE}", "", r"train_abstracts\.tsv:1: expected 3 columns, found 2"),
    ("train_abstracts", "7\t", "PMC7\t", r"abstracts\.tsv: there is no abstract of 7"),
    ("train_abstracts", "", "7\tA\tB\n", r"abstracts\.tsv:2: a second abstract of 7"),
    ("train_entities", "\tZolin\n", "\n", r"entities\.tsv:1: expected 6 columns, found 5"),
    ("train_entities", "7\tT1", "8\tT1", r"abstracts\.tsv: there is no abstract of 8"),
    ("train_entities", "CHEMICAL", "DRUG", r"abstracts\.tsv:1: expected the types CHEMICAL, .*'DRUG'"),
    ("train_entities", "\t0\t5", "\t0\t5000", r"abstracts\.tsv:1: the text of T1 differs"),
    ("train_entities", "\t0\t5", "\t5\t0", r"entities\.tsv:1: expected two offsets"),
    ("train_entities", "\t0\t5", "\t-1\t5", r"entities\.tsv:1: expected two offsets"),
    ("train_entities", "\t0\t5", "\t1\t6", r"abstracts\.tsv:1: the text of T1 differs"),
    ("train_entities", "7\tT2", "7\tT1", r"entities\.tsv:2: expected .* an id of its own"),
    ("train_relations", "\tY \tA", "\tA", r"relations\.tsv:1: expected 4 or 6 columns, found 5"),
    ("train_relations", "Arg1:T4", "Arg1:T40", r"relations\.tsv: PMID 7: .* 'CPR:6 T40 T5'"),
    ("train_relations", "Arg1:T4", "Arg1:T5", r"relations\.tsv: PMID 7: expected a CHEMICAL as Arg1.* T5 T5"),
    ("train_relations", "Arg2:T5", "Arg2:T4",
     r"relations\.tsv: PMID 7: .* a GENE-Y or GENE-N as Arg2.* T4 T4"),
    ("train_relations", "CPR:6", "CPR:66", r"relations\.tsv: PMID 7: .* found 'Y ' for 'CPR:66 T4 T5'"),
    ("train_relations", "N \t", "Y \t", r"relations\.tsv: .*`Y` for CPR:3.* found 'Y ' for 'CPR:2"),
    ("train_relations", "CPR:6", "CPR:3",
     r"gold_standard\.tsv: 7 CPR:3 Arg1:T4 Arg2:T5 is only in this file, or"),
    ("train_relations", "", "\n", r"relations\.tsv:5: expected 4 or 6 columns"),
    ("train_gold_standard", "7\tCPR:6\tArg1:T4\tArg2:T5\n", "", r"ard\.tsv: 7 CPR:6 Arg1:T4 Arg2:T5 is only"),
])  # fmt: skip
def test_another_form_is_refused(convert: Reader, role: str, old: str, new: str, message: str) -> None:
    with pytest.raises(PubmillError, match=message):
        convert(**{role: (old, new)})


SCIBERT = [
    '{"text": "<< Zolin >>: blocks κ[[ abase ]] at 4 >> 3.", "label": "INHIBITOR", "metadata": []}\n',
    '{"text": "<< zolin receptor >>[[ zolin ]] receptor", "label": "SUBSTRATE", "metadata": []}\n',
]


def scibert_examples(path: Path, lines: list[str]) -> list[SequenceExample]:
    path.write_text("".join(lines), encoding="utf-8")
    options = {"labels": ["INHIBITOR", "SUBSTRATE"]}
    return list(scibert.read(ConverterInput("dev", {"dev": path}, options, Counter())))


def test_scibert_marks_become_spans_and_go_back(tmp_path: Path) -> None:
    examples = scibert_examples(tmp_path / "dev.txt", SCIBERT)
    assert [(e.id, e.text, e.label) for e in examples] == [
        ("dev-00001", "Zolin: blocks κabase at 4 >> 3.", "INHIBITOR"),
        ("dev-00002", "zolin receptorzolin receptor", "SUBSTRATE"),
    ]
    assert [[(m.start, m.end) for m in e.entities] for e in examples] == [
        [(0, 5), (15, 20)],
        [(0, 14), (14, 19)],
    ]
    assert "".join(scibert.write(examples, WriterOptions({}, None))) == "".join(SCIBERT)


@pytest.mark.parametrize(("old", "new", "message"), [
    ("[[ ", "", "expected one mention between"), (" ]]", "", "expected one mention between"),
    (": blocks", " << blocks", "expected one mention between"),
    ('"INHIBITOR"', '"NOT"', "expected a label among INHIBITOR, SUBSTRATE, found 'NOT'"),
    ('"metadata": []', '"metadata": [1]', "metadata: .*at most 0 items"),
    ('", "label"', ', "label"', "Invalid JSON"),
    ('"metadata": []', '"metadata": [], "more": 1', "more: Extra inputs"),
    ('"metadata": []', '"metadata": [], "label": "SUBSTRATE"', "the key label occurs twice"),
])  # fmt: skip
def test_scibert_lines_that_are_not_in_their_form(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in SCIBERT[0]
    with pytest.raises(PubmillError, match=rf"dev\.txt:2: {message}"):
        scibert_examples(tmp_path / "dev.txt", [SCIBERT[1], SCIBERT[0].replace(old, new)])

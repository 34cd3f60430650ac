"""Files that `pubmill new dataset` refuses: what is wrong, where, and what to do."""

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from pubmill.errors import PubmillError
from pubmill.new_specs.file_forms import Given
from tests.unit.new_specs import files as toy
from tests.unit.new_specs.conftest import Found

FORMS = {
    "csv": ("train.csv", 'note,kind\n"One, two",x\nThree,y\n"Fo""ur five six",x\nFive,y\n'),
    "xml": ("train.xml", toy.XML),
    "list": ("train.json",
     json.dumps([{"abstract": f"Text {n}", "labels": ["a", "b"][: 1 + n % 2]} for n in range(4)])),
    "pubtator": ("train.PubTator", toy.PUBTATOR), "bioc": ("train.json", json.dumps(toy.BIOC)),
    "words": ("train.json", json.dumps(toy.WORDS) + "\n"), "rct": ("train.txt", toy.RCT),
    "conll": ("train.tsv", toy.CONLL), "conllu": ("train.conllu", toy.CONLLU),
    "lines": ("train.jsonl", toy.LINES), "questions": ("BioASQ-training7b.json", json.dumps(toy.QUESTIONS)),
    "choices": ("train.jsonl", toy.lines(toy.asked(options=[toy.CHOICES], answer_idx=toy.LETTERS))),
}  # fmt: skip
SHARDS = ("train-00000-of-00002", "train-00001-of-00002", "test-00000-of-00001")
SPAN = {"text": "Aspirin harms mice.", "label": [[0, 7, "Drug"]]}
MARKED = [
    {"text": f"The << drug {n} >> harms [[ mice ]] now.", "label": "FALSE", "more": []} for n in range(4)
]
NAMELESS = io.BytesIO()
pyarrow.parquet.write_table(pyarrow.table({"tokens": [["Mice", "ran"]], "ner_tags": [[1, 0]]}), NAMELESS)
IDENTIFIERS: dict[str, Callable[[int], Any]] = {
    "sentence_id": lambda n: n // 2, "place": lambda n: n // 2, "doc": lambda n: f"doc{n // 2}",
    "docId": lambda n: "abcdefg"[n % 7], "word": lambda n: f"{chr(97 + n % 26)}x",
}  # fmt: skip
Files = dict[str, str | bytes]
OF_ONE_FILE: Files = {
    ".PubTator": toy.PUBTATOR, ".json": json.dumps(toy.BIOC), ".txt": toy.RCT, ".tsv": toy.CONLL,
}  # fmt: skip


def changed(form: str, before: str, after: str) -> Files:
    name, text = FORMS[form]
    assert before in text
    return {name: text.replace(before, after)}


def brat(before: str, after: str) -> Files:
    return {f"train/{name}": text.replace(before, after) for name, text in toy.BRAT.items()}


def zipped(name: str, text: str) -> Files:
    with zipfile.ZipFile(content := io.BytesIO(), "w") as archive:
        archive.writestr(name, text)
    return {"train.zip": content.getvalue()}


def many(name: str, text: str) -> Files:
    rows = json.dumps([{"id": str(n), **row} for n, row in enumerate(toy.labelled(2))])
    return {"train/1.json": rows, f"train/{name}": text}


def identified(**key: Any) -> Files:
    return {
        "train.jsonl": toy.lines(
            {"text": f"Mice ran {n} times.", **{name: value(n) for name, value in key.items()}}
            for n in range(70)
        )
    }


def without(split: str) -> Files:
    return {
        "corpus.jsonl": toy.lines(
            {**row, "part": split.split()[n % 2]} for n, row in enumerate(toy.labelled(8))
        )
    }


REFUSED: list[tuple[Files, str]] = [
    ({"train.tsv": ""}, r"train\.tsv: the file is empty$"),
    ({"train.txt": "\n  \n\n"}, r"train\.txt: the file is empty$"),
    ({"train.tsv": "a\tb\nc\td\te\n"}, "train.tsv:2: 3 columns, where line 1 has 2"),
    ({"train.tsv": "hello\n"}, "train.tsv:1: one column: neither a table, CoNLL columns nor JSON"),
    ({"train.tsv": "-DOCSTART-\n\n"}, "train.tsv:1: one column: neither a table, CoNLL columns nor JSON"),
    ({"train.tsv": "One text\t1\nAnother text\t2\n"}, "train.tsv:1: no column looks like a label"),
    ({"train.tsv": "".join(f"T{n}\t{'xy'[n % 2]}\tAGONIST\n" for n in range(6))},
     "no column or key looks like a text"),
    ({"train.tsv": "Mice\tB-X\nran\tI-Y\n\n"}, "train.tsv:2: I continues no mention"),
    ({"train.tsv": "Mice\tB-S\nran\tO\nout\tI-S\n\n"}, "train.tsv:3: I continues no mention"),
    ({"train.tsv": toy.CONLL.replace("B-Species", "<B-S>").replace("O", "<O>")},
     "2 columns with blank lines .* no labels of words .*'<O>'"),
    ({"train.tsv": "word\ttag\n" + toy.CONLL.replace("\tO", "\t0")}, r"Is line 1 a line of headings\?"),
    ({"train.tsv": toy.CONLL * 4 + "Mice\tNN\tO\n\n"}, "train.tsv:33: 3 columns, where 24 lines .* have 2"),
    ({"train.txt": '{"a": 1}\n'}, "train.txt: its content is JSON; rename it"),
    ({"train.jsonl": '{"a": 1}\nb\n'}, "train.jsonl:2: not valid JSON"),
    ({"train.jsonl": '{"a": 1}\n[1]\n'}, "train.jsonl: expected a list of objects"),
    ({"train.json": '{"a":\n1}'}, "no column or key looks like a label"),
    ({"train.jsonl": toy.LINES, "test.jsonl": f"{toy.LINES}b\n"}, r"test\.jsonl:7: "),
    ({"train.tsv": "".join(f"The text {n}.\t{n % 2}\n" for n in range(6)),
      "test.tsv": "index\ttext\tlabel\n0\tThe text.\t1\n"},
     r"test.tsv:1: expected 2 columns(?s:.)*guessed from .*train.tsv"),
    ({"train.jsonl": toy.lines(MARKED)}, "train.jsonl: the texts mark two mentions .* lack the keys of"),
    ({"train.xlsx": "text,label\n"}, "a spreadsheet; save it as CSV"),
    ({"train.arrow": "text,label\n"}, "a file of `save_to_disk`; write each split as Parquet"),
    ({"dataset_dict.json": "text,label\n"}, "a file of `save_to_disk`; write each split as Parquet"),
    ({"corpus.csv": "text,label\n"}, "corpus.csv: there are no rows in it"),
    ({"corpus.txt": "text,label\n"}, "no file of the folder is named train; each file holds one split"),
    ({"corpus.tsv": "".join(f"Some text {n}\t{'ab'[n % 2]}\t{('train', 'dev')[n % 2]}\n" for n in range(8))},
     "corpus.tsv: its name shows no split, and no column"),
    (without("one two"), "corpus.jsonl: its name shows no split, and no column"),
    (without("dev test"), "corpus.jsonl: its name shows no split, and no column"),
    (zipped("a.xml", "<document><sentence/></document>"), "no column or key looks like a label"),
    (zipped("LICENSE.txt", "Free to use.\n"), "neither PubTator, BioC, brat, rows nor BioASQ's questions"),
    ({"train.xml": "<pairs><pair/><pair/></pairs>"},
     r"train\.xml: no element of this XML has children, so none is a row"),
    ({"train.parquet": NAMELESS.getvalue()},
     "labels of words in 'ner_tags' are numbers whose names the file"),
    ({"train.json": '[{"tokens": ["Mice"], "ner_tags": [1]}]'},
     "labels of words in 'ner_tags' are numbers whose names the file"),
    ({"train.json": '[{"question": "Who?", "context": "Mice ran.", "answers": "Mice"}]'},
     "no column or key looks like a label"),
    (identified(named=lambda n: [{"name": "Mice", "kind": "Species"}]),
     r"the key 'named' has annotations \(70 objects with the keys kind, name\)"),
    *((identified(**{name: value}), f"no column or key looks like a label .*{name} would identify")
      for name, value in IDENTIFIERS.items()),
    (many("2.json", "[{]"), r"train\.zip:2\.json: not valid JSON"),
    (many("2.md5", "0123"), "its files are neither PubTator, BioC, brat, rows nor BioASQ's questions"),
    *(({f"{shard}{ending}": text for shard in SHARDS},
       f"/{SHARDS[1]}{ending}: its split has two files, but of this form one is read")
      for ending, text in OF_ONE_FILE.items()),
    (changed("csv", "Three,y", "Three,y,z"), "train.csv:3: expected 2 columns, found 3"),
    (changed("xml", "</Pairs>", ""), "train.xml:1: not well-formed XML"),
    (changed("xml", '<Question qtype="a">', "<Question>"), "train.xml: no column or key looks like a label"),
    (changed("list", '"labels"', '"abstract"'), "the key abstract occurs twice"),
    (changed("list", "Text 1", "Text \\ud800"), "half of a pair of surrogates"),
    (changed("choices", '"answer_idx": "D"', '"answer_idx": "E"'), "no column or key looks like a label"),
    (changed("pubtator", "1\t0\t7\tAspirin", "1\t0\tAspirin"), "train.PubTator:3: a mention has the columns"),
    ({"train.json": '{"documents": [],\n"passages": 0}'}, "train.json: there are no documents in"),
    ({"train.txt": "1|t|Aspirin harms.\n1|a|It does.\n1\tCID\tD1\tD2\n\n"},
     "its documents have no mentions; write the spec by hand"),
    (changed("bioc", '"id": "1", "passages"', '"x": "1", "passages"'), "1: a document needs an `id`"),
    (changed("words", '[2, 2, "Sp', '[2, 9, "Sp'), "json:1: the words 2 to 9 are not among the 4"),
    ({"train.jsonl": toy.lines([SPAN | {"label": [[0, 70, "Drug"]]}])},
     "1 of 1 mentions differ .* the first .*jsonl:1, 0 to 70 of Drug"),
    (changed("rct", "AIM\tWe test.", "AIM We test."), "train.txt:2: expected `###ID`, then"),
    (changed("rct", "###12", "###11"), "example 11-1: its id occurs twice; it .*train.txt"),
    (changed("conllu", "\tB-Drug", "\tDrug"), "neither a column nor a key of its last has BIO labels"),
    (changed("conllu", "\tB-Drug", "\tI-Drug"), "train.conllu:8: I continues no mention"),
    (changed("conllu", "3\ttake\t_\tO", "3\ttake\tO"), "different numbers of columns"),
    (brat("0 5\tFever\n", "1 6\tFever\n"), "1 of 3 mentions differ .*train.zip:a.ann:1: it says 'Fever'"),
    (brat("Sign 0 5\tFever", "Sign 0-5\tFever"), "train.zip:a.ann:1: expected `Type start end"),
    ({"train/b.ann": "", "train/a.txt": ""}, "there are annotations, but no text b.txt"),
    (changed("questions", "", ""), r"several types; choose one: --as list \(1 list questions\) or --as fac"),
]  # fmt: skip


@pytest.mark.parametrize(("files", "given", "message"), [
    *((files, Given(), message) for files, message in REFUSED),
    (changed("bioc", "", ""), Given("pairs"), "negative: there is no label 'none'"),
    (changed("pubtator", "", ""), Given("pair"),
     "--as pair: expected mentions, nested, relations, pairs, list"),
    (changed("pubtator", "1\tCID\tD1\tD2\n", ""), Given("pairs"),
     r"no relations .*; use --as nested \(all of 3"),
    (changed("pubtator", "", ""), Given("list"),
     r"no questions; use --as relations \(1 relations between concepts"),
    (changed("pubtator", "CID\tD1\tD2", "CID\tD8\tD9"), Given("relations"),
     "no relation of these files has two"),
    (changed("bioc", "", ""), Given("nested"), "no mentions that overlap; use --as mentions"),
    (changed("csv", "", ""), Given("nested"),
     "--as nested is for documents with annotations and for BioASQ's"),
    (changed("lines", "", ""), Given(offsets="utf-16"), "--offsets is for documents with annotations"),
    (changed("lines", "", ""), Given(misplaced=True), "--misplaced is for documents with annotations"),
    (changed("pubtator", "", ""), Given(offsets="utf-32"),
     "`offsets` has 'utf-32'; it is made of utf-16, bytes, .*shift=N"),
    (changed("questions", '"type": "list"', '"type": "yesno"'), Given("list"),
     "no list questions in .*: 1 factoid, 1 yesno. For"),
    (changed("questions", '[["aspirin"], ["heparin"]]', '[["aspirin"], 3]'), Given("list"),
     "qlist: exact_answer is not a list"),
    (changed("questions", '"body"', '"text"'), Given("list"), "questions.0.body: Field required"),
    (changed("questions", '"document": "http://x/pubmed/12"', '"document": "12"'), Given("list"),
     "snippets.0.document"),
])  # fmt: skip
def test_files_are_refused(found: Found, files: Files, given: Given, message: str) -> None:
    with pytest.raises(PubmillError, match=message):
        found(files, given)

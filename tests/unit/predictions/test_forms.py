"""Forms of predictions: every one gives the same scores; what is damaged or of no form is refused."""

import gzip
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pubmill.convert.hoc import HALLMARKS
from pubmill.errors import PubmillError
from pubmill.formats import text_files
from pubmill.formats.document_files import annotated_documents
from pubmill.predictions import conll_form, forms, tsv_form
from pubmill.predictions.alignment import FURTHEST
from pubmill.predictions.document_forms import text_of
from pubmill.predictions.forms import form_of, read_text
from pubmill.predictions.scores import score_submission
from pubmill.predictions.tsv_form import GOLD
from tests.unit.predictions import toy_datasets as toy

Content = Callable[[Path], str | bytes]


def by_id(name: str) -> dict[str, Any]:
    return {one.id: toy.gold(one) for one in toy.examples(name)}


CASES: dict[str, tuple[str, str, Content]] = {
    "BIO": ("ner", "conll", lambda results: toy.conll()),
    "IOE2": ("ner", "conll", lambda results: toy.conll(toy.ioe)),
    "IOBES with ids": ("ner", "conll", lambda results: toy.conll(toy.iobes, ids=True)),
    "blanks": ("ner", "conll", lambda results: toy.conll().replace("\t", " NN ")),
    "other sentence ends": ("ner", "conll", lambda results: toy.conll().replace(",\tO\n", ",\tO\n\n")),
    "spans": ("ner", "jsonl", lambda results: toy.span_lines()),
    "bioc json": ("ner", "bioc-json", lambda results: json.dumps(toy.bioc("ner", results))),
    "bioc xml": ("ner", "bioc-xml", lambda results: toy.bioc_xml(results)),
    "bioc relations": ("rel", "bioc-json", lambda results: json.dumps(toy.bioc("rel", results))),
    "pubtator by PMID": ("ner", "pubtator", lambda results: toy.pubtator()),
    "blurb's table": ("rel", "blurb-tsv", lambda results: toy.blurb_tsv()),
    "blurb's table of row numbers": ("rel", "blurb-tsv", lambda results: toy.indexed_tsv()),
    "zipped lines": ("rel", "jsonl", lambda results: gzip.compress(toy.jsonl("rel").encode())),
    "windows line ends": ("rel", "jsonl", lambda results: toy.jsonl("rel").replace("\n", "\r\n")),
    "object by id": ("rel", "json", lambda results: json.dumps(by_id("rel"))),
    "list": (
        "doc", "json",
        lambda results: json.dumps([{"id": name, "labels": labels} for name, labels in by_id("doc").items()]),
    ),
    "labels in a column": (
        "doc", "blurb-tsv",
        lambda results: "".join(f"{name}\t{'|'.join(labels)}\n" for name, labels in by_id("doc").items()),
    ),
    "scores": ("sim", "jsonl", lambda results: toy.jsonl("sim")),
    "answers": ("qa", "jsonl", lambda results: toy.jsonl("qa")),
    "n-best answers": (
        "qa", "json",
        lambda results: json.dumps({
            name: [{"text": text, "probability": 0.5, "start_logit": 1} for text in texts]
            for name, texts in by_id("qa").items()
        }),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_gold_in_any_form_has_the_highest_score(case: str, tmp_path: Path) -> None:
    name, form, content = CASES[case]
    toy.make(tmp_path, name)
    found = toy.score(tmp_path, name, content(tmp_path))
    assert found.submission.form == form
    assert found.metrics[toy.METRICS[name]] == pytest.approx(1.0)
    assert found.left_aside() == []
    assert [line["id"] for line in found.submission.lines] == [one.id for one in toy.examples(name)]


def test_archives_and_marked_files_are_read(tmp_path: Path) -> None:
    toy.make(tmp_path, "ner")
    found = score_submission(toy.brat(tmp_path / "ner.zip"), toy.recipe(tmp_path, "ner"), tmp_path)
    assert (found.submission.form, found.metrics["entity_f1"]) == ("brat", 1.0)
    for content in (b"\xef\xbb\xbfa\r\nb", gzip.compress(b"\xef\xbb\xbfa\r\nb")):
        (tmp_path / "file").write_bytes(content)
        assert read_text(tmp_path / "file") == "a\nb"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"1.ann": "T1\tDisease 0 3\tflu\n"}, r"there are annotations, but no text 1\.txt"),
        ({"1.txt": "flu", "1.ann": "T1\tDisease 1 3\tflu\n"}, r"1\.ann:1: the text of T1 differs"),
        ({"x.txt": "flu", "x.ann": "T1\tDisease 0 3\tflu\n"}, r"1 unknown \(x\)"),
        ({}, "no files below its top"),
    ],
)
def test_a_damaged_archive_is_refused(files: dict[str, str], message: str, tmp_path: Path) -> None:
    toy.make(tmp_path, "ner")
    with zipfile.ZipFile(tmp_path / "ner.zip", "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    with pytest.raises(PubmillError, match=message):
        score_submission(tmp_path / "ner.zip", toy.recipe(tmp_path, "ner"), tmp_path)


def test_documents_with_other_predictions_or_none_are_refused(tmp_path: Path) -> None:
    toy.make(tmp_path, "rel")
    made = toy.bioc("rel", tmp_path)
    for document in made["documents"]:
        document["passages"][0]["relations"] = []
    with pytest.raises(PubmillError, match="are these the inputs"):
        toy.score(tmp_path, "rel", json.dumps(made))
    made = toy.bioc("rel", tmp_path)
    [passage] = made["documents"][0]["passages"]
    passage["relations"] *= 2
    with pytest.raises(PubmillError, match="document 1: expected one relation .* 1000.T1, found 2"):
        toy.score(tmp_path, "rel", json.dumps(made))
    toy.make(tmp_path, "sim")
    with pytest.raises(PubmillError, match="needs predictions of kind regression"):
        toy.score(tmp_path, "sim", json.dumps(made))


def test_hallmarks_of_sentences_are_those_of_their_document(tmp_path: Path) -> None:
    """BLURB's form of HoC: a row of ten flags for each sentence."""
    toy.make(tmp_path, "doc")
    text = "labels\tsentence\tindex\n"
    for one in toy.examples("doc"):
        flags = [",".join(f"{i}_{int(label in toy.gold(one))}" for i, label in enumerate(HALLMARKS))]
        flags.append(",".join(f"{i}_0" for i in range(10)))
        for number, sentence in enumerate((f"Abstract {int(one.id) - 70}.", "More.")):
            text += f"{flags[number]}\t{sentence}\t{one.id}_s{number}\n"
    assert toy.score(tmp_path, "doc", text).metrics["micro_f1"] == 1.0
    with pytest.raises(PubmillError, match="not numbered s0, s1"):
        toy.score(tmp_path, "doc", text.replace("71_s1", "71_s2"))
    with pytest.raises(PubmillError, match="predictions:2: the text of 71 is not the dataset's"):
        toy.score(tmp_path, "doc", text.replace("Abstract 1.", "Abstract 9."))
    for old, new in ((",9_0", ""), ("71_s1", "71_s" + "1" * 5000)):
        with pytest.raises(PubmillError, match="a flag for each of 10 hallmarks"):
            toy.score(tmp_path, "doc", text.replace(old, new))


@pytest.mark.parametrize(
    ("dataset", "content", "message"),
    [
        ("rel", "one line of prose without any form\n", r"none of the known forms.*pubtator:.*blurb-tsv:"),
        ("rel", "", "empty; expected"),
        ("ner", "# id = a\nAnn\t_\nran\t_\n\n", ":2: no label, only the _ of the inputs"),
        ("rel", "a\0b", "NUL"),
        ("rel", b"\xff\xfe", "not UTF-8"),
        ("rel", gzip.compress(b"x" * 100, mtime=0)[:-9], "not a whole gzip file"),
        ("rel", toy.jsonl("rel")[:-20], r":12: not valid JSON"),
        ("rel", toy.jsonl("rel").replace('"label"', '"label": "none", "label"'), "occurs twice"),
        ("rel", toy.blurb_tsv().rstrip("\n"), "does not end with a line end, so it may be incomplete"),
        ("ner", toy.pubtator().removesuffix("\n"), "does not end with a blank line"),
        ("sim", toy.jsonl("sim").replace("1.25", "NaN", 1), "no finite number"),
        ("sim", toy.jsonl("sim").replace("1.25", "9" * 400, 1), "expected a finite number"),
        ("qa", toy.jsonl("qa").replace('"gene3"', f'{{"text": "a", "probability": {"9" * 400}}}'),
         "expected an"),
        ("qa", toy.jsonl("qa").replace("gene3", r"\ud800"), r":3: .*half of a surrogate pair"),
        ("rel", toy.jsonl("rel").replace('"none"', "3"), "label that the dataset lacks: 3"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_refused(dataset: str, content: str | bytes, message: str, tmp_path: Path) -> None:
    toy.make(tmp_path, dataset)
    with pytest.raises(PubmillError, match=f"predictions.*{message}"):
        toy.score(tmp_path, dataset, content)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_too_large_files_are_refused(
    pack: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_files, "LARGEST", 2_000)
    (tmp_path / "large").write_bytes(pack(b"x" * 3_000))
    with pytest.raises(PubmillError, match="large: (unpacks to )?more than 2,000 bytes"):
        forms.read_text(tmp_path / "large")


def test_a_stated_form_says_what_is_wrong_in_it(tmp_path: Path) -> None:
    toy.make(tmp_path, "ner")
    broken = toy.conll().replace("flu\tB-Disease", "flu", 2)
    with pytest.raises(PubmillError, match="has none of the known forms"):
        toy.score(tmp_path, "ner", broken)
    with pytest.raises(PubmillError, match=r"predictions:4: expected a word and its label, found 'flu'"):
        toy.score(tmp_path, "ner", broken, form="conll")
    with pytest.raises(PubmillError, match="there is no form 'connl'; the nearest: conll"):
        toy.score(tmp_path, "ner", toy.conll(), form="connl")


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ('{"id": "1", "label": "a"}', "jsonl"), ('{"example_id": "1", "label": "a"}\n', "jsonl"),
        ('\n{"a": 1}\n{"b": 2}', "jsonl"), ('{"1": "a"}', "json"), ('{"1": "a"}\n\n', "json"),
        ('{\n"id": "1"}', "json"), ('[{"id": "1"}]', "json"), ('{"documents": []}', "bioc-json"),
        ('{"documents": []}\n{"documents": []}', "bioc-json"),
        ('{"source": "", "documents" : [3]}', "bioc-json"),
        (" <collection/>", "bioc-xml"), ("7|t|Flu", "pubtator"), ("7|a|Flu", "pubtator"), ("flu\tO", "conll"),
        ("flu\tyes", "blurb-tsv"), ("7|b|Flu", None), ("\n \n", None), ("flu O", "conll"), ("flu", None),
        ("flu O\ncough", "conll"), ("flu O\ncough\nold", None), ("-DOCSTART- O", None), ("{ O", "json"),
        ("flu\tNN\nold\tNN", "blurb-tsv"), ("a\tb\n\nc\td", "blurb-tsv"), ("a\tb\nc", None),
        ("-DOCSTART- O\n\n# id = s1\nflu\tNN\tB-D\n\nold\tO", "conll"),
    ],
)  # fmt: skip
def test_forms_are_recognised(text: str, form: str | None) -> None:
    if form:
        assert form_of(text, "f") == form
        return
    with pytest.raises(PubmillError, match="f: the file has none of the known forms"):
        form_of(text, "f")


PASSAGES: dict[str, tuple[list[tuple[int, str]], str]] = {
    "touching": ([(0, "One."), (4, "Two.")], "One.Two."),
    "gap": ([(0, "One."), (6, "Two.")], "One.  Two."),
    "overlapping": ([(0, "One."), (3, "Lost."), (5, "Two.")], "One. Two."),
    "unordered": ([(5, "Two."), (0, "One.")], "One. Two."),
    "far": ([(0, "One."), (10**9, "Two.")], "One." + " " * (FURTHEST + 1) + "Two."),
}


@pytest.mark.parametrize("name", PASSAGES)
def test_each_passage_stands_at_its_offset(name: str, tmp_path: Path) -> None:
    parts, text = PASSAGES[name]
    passages = [
        {"offset": offset, "infons": {}, "text": said, "annotations": [], "relations": [], "sentences": []}
        for offset, said in parts
    ]
    documents = [{"id": "1", "infons": {}, "passages": passages, "relations": []}]
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"source": "", "date": "", "key": "", "infons": {}, "documents": documents}))
    [found] = annotated_documents(path, "bioc-json")
    assert (found.id, text_of(found)) == ("1", text)


TEXT = "-DOCSTART- O\n\n# id = s1\nflu\tNN\tB-D\n\nold\tO\nflu\tI-D\n###MEDLINE:7\nno\tO"


def test_sentences_have_their_place_and_id() -> None:
    rows = list(conll_form.read(TEXT.split("\n"), "f"))
    assert [(one.where, one.id, one.words, one.value) for one in rows] == [
        ("f:4", "s1", ["flu"], ["B-D"]), ("f:6", None, ["old", "flu"], ["O", "I-D"]),
        ("f:9", None, ["no"], ["O"]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# id = a\n# id = b\nflu O", "f:2: no sentence follows the id before this one"),
        ("flu O\n\n#id=a", "f: no sentence follows the last id; is the file complete"),
        ("flu O\nflu", "f:2: expected a word and its label"),
        ("\tB-D\nflu O", "f:1: expected a word and its label"),
        ("flu\t", "f:1: expected a label of IOB"),
        ("flu\tno label", "f:1: expected a label of IOB"),
    ],
)
def test_damaged_columns_are_refused(text: str, message: str) -> None:
    with pytest.raises(PubmillError, match=message):
        list(conll_form.read(text.split("\n"), "f"))


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("B-X I-X O B-X", "B-X I-X O B-X"), ("S-X O B-X E-X", "B-X O B-X I-X"),
        ("W-X B-X M-X E-X", "B-X B-X I-X I-X"), ("U L", "B B"), ("I-X I-X O E-X", "B-X I-X O B-X"),
    ],
)  # fmt: skip
def test_every_scheme_becomes_bio(labels: str, expected: str) -> None:
    assert conll_form.as_bio(labels.split()) == expected.split()


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["id\ttext\tlabel", "7\tsome\tyes"], [("f:2", "7", "yes", ("some",))]),
        (["Label \t Text", "yes\tsome"], [("f:2", None, "yes", ("some",))]),
        (["id\ty_pred", "7\tyes"], [("f:2", "7", "yes", ())]),
        (["0\ta\tyes", "1\tb\tno"], [("f:1", None, "yes", ("a",)), ("f:2", None, "no", ("b",))]),
        (["0\tyes", "1\tno"], [("f:1", "0", "yes", ()), ("f:2", "1", "no", ())]),
        (["1\ta\tyes", "0\tb\tno"], [("f:1", "1", "yes", ("a",)), ("f:2", "0", "no", ("b",))]),
        (["a1\tyes", "", "a2\tno"], [("f:1", "a1", "yes", ()), ("f:3", "a2", "no", ())]),
        (["sent1\tprediction\tpair_id\tsent2", "a\t3\t5\tb"], [("f:2", "5", "3", ("a", "b"))]),
    ],
)
def test_columns(lines: list[str], expected: list[tuple[str, str | None, str, tuple[str, ...]]]) -> None:
    rows = list(tsv_form.read(lines, "f"))
    assert [(one.where, one.id, one.value, one.texts) for one in rows] == expected
    assert {one.key for one in rows} == {"prediction"}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["a\tb", "c"], "f:2: expected 2 columns, found 1"),
        (["a\tb", "c\td\te"], "f:2: expected 2 columns, found 3"),
        (["a"], "f:1: expected 2 columns, found 1"),
        (["", ""], "f: no lines"),
        (["id\tindex\tlabel"], r"f:1: .* at most one of ids \(id, index, pair_id\)"),
        (["id\ttext"], "f:1: .* columns of predictions: none"),
        (["id\tlabel\tscore"], "f:1: .* columns of predictions: label, score"),
        (["id\tlabel\ttarget"], "f:1: the column target holds gold labels"),
        (["a\tyes", "b\t?"], "f:2: no prediction, only the"),
    ],
)
def test_other_tables_are_refused(lines: list[str], message: str) -> None:
    with pytest.raises(PubmillError, match=message):
        list(tsv_form.read(lines, "f"))


def test_flags_of_sentences_are_labels_of_documents() -> None:
    def flags(*set_flags: int) -> str:
        return ",".join(f"{number}_{int(number in set_flags)}" for number in range(10))

    first, second = tsv_form.read([f"5_s0\t{flags(2)}", f"5_s1\t{flags(0, 2)}", f"6_s0\t{flags()}"], "f")
    names = list(HALLMARKS)
    assert (first.where, first.id, first.value) == ("f:1", "5", sorted([names[0], names[2]]))
    assert (second.where, second.id, second.texts, second.value) == ("f:3", "6", (), [])
    for lines in ([f"s0\t{flags()}"], [f"5_s1\t{flags()}"], [f"5_s0\t{flags()}", f"5_s0\t{flags()}"]):
        with pytest.raises(PubmillError, match="f:1: "):
            list(tsv_form.read(lines, "f"))
    with pytest.raises(PubmillError, match="f:2: expected a flag for each of 10 hallmarks"):
        list(tsv_form.read(["text\tlabel", f"A.\t{flags()}"], "f"))


def test_csv_has_headings_and_quoted_cells(tmp_path: Path) -> None:
    toy.make(tmp_path, "rel")
    rows: Any = toy.examples("rel")
    content = "id,sentence,prediction\n" + "".join(f'{one.id},"{one.text}",{one.label}\n' for one in rows)
    found = toy.score(tmp_path, "rel", content)
    assert (found.submission.form, found.metrics["micro_f1"]) == ("csv", 1.0)
    answers = "id,response\n" + "".join(f'{one.id},"- {one.label}\n"\n' for one in rows)
    said = toy.score(tmp_path, "rel", answers, mapping={label: label for label in toy.LABELS})
    assert (said.metrics["micro_f1"], said.submission.reading.by_rule["bullets"]) == (1.0, 12)
    for wrong, message in (
        (content.removesuffix("\n"), "does not end with a line end"),
        (content.replace("prediction", "gold"), "the column gold holds gold labels"),
        (content + '1,"a\n', ":1[45]: not valid CSV"),
        (content + "1\n", ":14: expected 3 columns, found 1"),
    ):
        with pytest.raises(PubmillError, match=message):
            toy.score(tmp_path, "rel", wrong)
    with pytest.raises(PubmillError, match=":1: unknown headings 1000.T1, activates in the first line"):
        toy.score(tmp_path, "rel", "1000.T1,activates\n", form="csv")


@pytest.mark.parametrize("comma", [",", "\t"])
def test_other_headings_are_named_beside_those_that_are_read(comma: str, tmp_path: Path) -> None:
    toy.make(tmp_path, "rel")
    content = "".join(f"{comma.join(row)}\n" for row in (["id", "guess"], ["1000.T1", "none"]))
    unknown = r":1: unknown headings guess in the first line; expected an id"
    with pytest.raises(PubmillError, match=unknown) as no:
        toy.score(tmp_path, "rel", content)
    assert not any(name in str(no.value) for name in {*GOLD} - {"expected"})
    assert "such as id,prediction" in str(no.value)
    with pytest.raises(PubmillError, match=":1: unknown headings docid in the first line"):
        toy.score(tmp_path, "rel", "docid,pred\n1000.T1,none\n")

"""Rows and archives as new datasets: which columns are read, which are named as left out, and refusals."""

import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from pubmill.errors import PubmillError
from pubmill.new_specs.new_dataset import describe, new_dataset
from pubmill.new_specs.row_forms import row_form
from tests.unit.new_specs.test_other_forms import described

SCORED = (
    "id\tfirst\tsecond\tscore\n1\tMice ran away.\tThe mice ran.\t3.5\n2\tRats sat down.\tNo rat ran.\t1.0\n"
)
JOINED = "pmid\ttext\tlabels\n" + "".join(
    f"{n}\tText {n} here.\t{label}\n" for n, label in enumerate(("a", "a;b", "b", "a;b", "b;a"))
)
QUOTED = 'text\tkind\n"Mice ran\naway."\tx\nRats sat.\tx\nNo rat.\ty\nNo mice.\ty\n'
WORDS = [
    {"index": 0, "sentence": ["Mice", "ran"], "gold": ["B", "O"]},
    {"index": 1, "sentence": ["No"], "gold": ["O"]},
]


@pytest.mark.parametrize(
    ("name", "text", "kind", "options"),
    [
        (
            "train.tsv", SCORED, "regression",
            {"text": "first", "text_pair": "second", "score": "score", "id": "id"},
        ),
        (
            "train.tsv", JOINED, "multilabel",
            {"text": "text", "label": "labels", "separator": ";", "labels": ["a", "b"], "id": "pmid"},
        ),
        ("train.tsv", QUOTED, "sequence", {"text": "text", "label": "kind", "labels": ["x", "y"]}),
        (
            "train.json", json.dumps(WORDS), "tokens",
            {"words": "sentence", "label": "gold", "labels": "as_written", "id": "index"},
        ),
    ],
)  # fmt: skip
def test_scores_several_labels_quoted_fields_and_words_are_found(
    tmp_path: Path, name: str, text: str, kind: str, options: dict[str, Any]
) -> None:
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / name).write_text(text)
    spec, _ = described(tmp_path / "given", tmp_path)
    assert (spec.kind, spec.options) == (kind, options)


def test_columns_that_are_not_read_are_named(tmp_path: Path) -> None:
    rows = [f"{n}\t{'ab'[n % 2]}\tThe text {n}.\tA further text.\tMany words here {n}." for n in range(4)]
    (tmp_path / "train.tsv").write_text("\n".join(["n\tkind\tone\ttwo\tthree", *rows]) + "\n")
    form = describe(new_dataset([str(tmp_path / "train.tsv")], "mine", None, tmp_path, access="public")).form
    assert form.options["columns"] == ["id", "label", "skip", "skip", "text"]
    assert form.unread == ("one", "two")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.xml", "<document><sentence/></document>", "no column or key looks like a label"),
        ("LICENSE.txt", "Free to use.\n", "neither PubTator, BioC, brat, rows nor BioASQ's questions"),
        ("a.json", '{"a": 1}', "no column or key looks like a label"),
    ],
)
def test_archives_of_other_files_are_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    with zipfile.ZipFile(tmp_path / "train.zip", "w") as archive:
        archive.writestr(name, text)
    with pytest.raises(PubmillError, match=message):
        describe(new_dataset([str(tmp_path / "train.zip")], "mine", None, tmp_path, access="public"))


def test_a_table_without_a_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "train.tsv").write_text("".join(f"T{n}\t{'xy'[n % 2]}\tAGONIST\n" for n in range(6)))
    with pytest.raises(PubmillError, match="no column or key looks like a text"):
        describe(new_dataset([str(tmp_path / "train.tsv")], "mine", None, tmp_path, access="public"))


def test_a_split_of_another_form_is_reported_with_what_to_do(tmp_path: Path) -> None:
    rows = [f"The text {n}.\t{n % 2}" for n in range(6)]
    (tmp_path / "train.tsv").write_text("\n".join(rows) + "\n")
    (tmp_path / "test.tsv").write_text("index\ttext\tlabel\n0\tThe text.\t1\n")
    given = [str(tmp_path / name) for name in ("train.tsv", "test.tsv")]
    with pytest.raises(PubmillError, match=r"test.tsv:1: expected 2 columns(?s:.)*guessed from .*train.tsv"):
        describe(new_dataset(given, "mine", None, tmp_path, access="public"))


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("Mice\tI-S\nran\tO\n\nrats\tI-S\nmice\tB-S\n\n", {"labels": "as_written", "scheme": "iob1"}),
        ("-DOCSTART- -X- O\n\nMice\tB-S\nran\tO\n\n", {"labels": "as_written", "documents": "unnamed"}),
        ("-DOCSTART- 12\n\nMice\tB-S\nran\tO\n\n", {"labels": "as_written"}),
    ],
)
def test_variants_of_conll_are_told_apart(tmp_path: Path, text: str, options: dict[str, str]) -> None:
    (tmp_path / "train.tsv").write_text(text)
    assert (
        describe(
            new_dataset([str(tmp_path / "train.tsv")], "mine", None, tmp_path, access="public")
        ).form.options
        == options
    )


def test_an_i_after_o_beside_a_b_is_refused(tmp_path: Path) -> None:
    (tmp_path / "train.tsv").write_text("Mice\tB-S\nran\tO\nout\tI-S\n\n")
    with pytest.raises(PubmillError, match=r"train.tsv:3: I continues no mention"):
        describe(new_dataset([str(tmp_path / "train.tsv")], "mine", None, tmp_path, access="public"))


def test_files_of_a_hub_folder_are_found_below_it(tmp_path: Path) -> None:
    (tmp_path / "given/data").mkdir(parents=True)
    (tmp_path / "given/README.md").write_text("---\n---\n")
    lines = "".join(json.dumps({"text": f"Text {n}", "label": "ab"[n % 2]}) + "\n" for n in range(4))
    with gzip.open(tmp_path / "given/data/train.jsonl.gz", "wt") as file:
        file.write(lines)
    spec, _ = described(tmp_path / "given", tmp_path)
    assert spec.expect["train"] == {"examples": 4, "labels.a": 2, "labels.b": 2}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("train.xlsx", "a spreadsheet; save it as CSV"),
        ("train.arrow", "a file of `save_to_disk`; write each split as Parquet"),
        ("dataset_dict.json", "a file of `save_to_disk`; write each split as Parquet"),
        ("corpus.csv", "corpus.csv: there are no rows in it"),
        ("corpus.txt", "no file of the folder is named train; each file holds one split"),
    ],
)
def test_files_that_are_not_read_say_what_to_do(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / name).write_text("text,label\n")
    with pytest.raises(PubmillError, match=message):
        describe(new_dataset([str(tmp_path / "given")], "mine", None, tmp_path, access="public"))


def rows_in(folder: Path, rows: list[dict[str, Any]]) -> dict[str, Path]:
    path = folder / "train.json"
    path.write_text(json.dumps(rows))
    return {"train": path}


def test_labels_of_words_that_are_numbers_need_names(tmp_path: Path) -> None:
    rows = [{"tokens": ["Mice", "ran"], "ner_tags": [1, 0]}]
    with pytest.raises(PubmillError, match="labels of words in 'ner_tags' are numbers whose names the file"):
        row_form(rows_in(tmp_path, rows))
    features = {"ner_tags": {"feature": {"names": ["O", "B-S"], "_type": "ClassLabel"}, "_type": "Sequence"}}
    table = pyarrow.table({key: [row[key] for row in rows] for key in rows[0]})
    path = tmp_path / "train.parquet"
    pyarrow.parquet.write_table(table, path)
    with pytest.raises(PubmillError, match="numbers whose names the file does not have"):
        row_form({"train": path})
    named = {"huggingface": json.dumps({"info": {"features": features}})}
    pyarrow.parquet.write_table(table.replace_schema_metadata(named), path)
    assert row_form({"train": path}).options == {
        "words": "tokens", "label": "ner_tags", "labels": ["O", "B-S"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("row", "words", "label"),
    [
        ({"tokens": ["a", "b"], "labels": ["B", "O"]}, "tokens", "labels"),
        ({"words": ["a"], "tags": ["B"], "more": ["x"]}, "words", "tags"),
        ({"sentence": ["a", "b"], "gold": ["B", "O"]}, "sentence", "gold"),
        ({"gold": ["B", "O"], "sentence": ["a", "b"]}, "sentence", "gold"),
    ],
)
def test_words_and_labels_have_their_usual_names_or_are_the_only_lists(
    tmp_path: Path, row: dict[str, Any], words: str, label: str
) -> None:
    form = row_form(rows_in(tmp_path, [row, row]))
    assert (form.kind, form.options) == ("tokens", {"words": words, "label": label, "labels": "as_written"})


QUESTION = {
    "id": "q1", "question": "Who ran?", "context": "Mice ran.",
    "answers": {"text": ["Mice"], "answer_start": [0]},
}  # fmt: skip


def test_questions_with_a_context_and_answers_are_spans(tmp_path: Path) -> None:
    form = row_form(rows_in(tmp_path, [QUESTION, {**QUESTION, "id": "q2"}]))
    assert (form.kind, form.task, form.metric) == ("span", "reading", "f1")
    keys = {"question": "question", "context": "context", "answers": "answers"}
    assert form.options == {**keys, "id": "id"}
    assert row_form(rows_in(tmp_path, [QUESTION, QUESTION])).options == keys, "an id that occurs twice"
    exact = {key: value for key, value in QUESTION.items() if key != "id"}
    assert row_form(rows_in(tmp_path, [exact])).kind == "span"


@pytest.mark.parametrize("change", [{"answers": "Mice"}, {"context": ...}, {"question": ...}])
def test_rows_without_one_of_the_three_are_no_spans(tmp_path: Path, change: dict[str, Any]) -> None:
    row = {key: value for key, value in (QUESTION | change).items() if value is not ...}
    with pytest.raises(PubmillError, match="no column or key looks like a label"):
        row_form(rows_in(tmp_path, [row]))


def test_xml_whose_elements_have_no_children_has_no_rows(tmp_path: Path) -> None:
    (tmp_path / "train.xml").write_text("<pairs><pair/><pair/></pairs>")
    with pytest.raises(
        PubmillError, match=r"train\.xml: no element of this XML has children, so none is a row"
    ):
        row_form({"train": tmp_path / "train.xml"})

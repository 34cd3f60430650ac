"""Rows and archives as new datasets: which columns are read, which are named as left out, and refusals."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.inspection.new_dataset import describe, new_dataset
from tests.unit.inspection.test_other_forms import described

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
    form = describe(new_dataset([str(tmp_path / "train.tsv")], "mine", None, tmp_path)).form
    assert form.options["columns"] == ["id", "label", "skip", "skip", "text"]
    assert form.unread == ("one", "two")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.xml", "<document><sentence/></document>", "neither PubTator, BioC, brat nor BioASQ's questions"),
        ("LICENSE.txt", "Free to use.\n", "neither PubTator, BioC, brat nor BioASQ's questions"),
        ("a.json", '{"a": 1}', "neither PubTator, BioC, brat nor BioASQ's questions"),
    ],
)
def test_archives_of_other_files_are_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    with zipfile.ZipFile(tmp_path / "train.zip", "w") as archive:
        archive.writestr(name, text)
    with pytest.raises(PubmillError, match=message):
        describe(new_dataset([str(tmp_path / "train.zip")], "mine", None, tmp_path))


def test_a_table_without_a_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "train.tsv").write_text("".join(f"T{n}\t{'xy'[n % 2]}\tAGONIST\n" for n in range(6)))
    with pytest.raises(PubmillError, match="no column or key looks like a text"):
        describe(new_dataset([str(tmp_path / "train.tsv")], "mine", None, tmp_path))


def test_a_split_of_another_form_is_reported_with_what_to_do(tmp_path: Path) -> None:
    rows = [f"The text {n}.\t{n % 2}" for n in range(6)]
    (tmp_path / "train.tsv").write_text("\n".join(rows) + "\n")
    (tmp_path / "test.tsv").write_text("index\ttext\tlabel\n0\tThe text.\t1\n")
    given = [str(tmp_path / name) for name in ("train.tsv", "test.tsv")]
    with pytest.raises(PubmillError, match=r"test.tsv:1: expected 2 columns(?s:.)*guessed from .*train.tsv"):
        describe(new_dataset(given, "mine", None, tmp_path))

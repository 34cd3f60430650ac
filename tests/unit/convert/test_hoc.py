"""Hallmarks of Cancer: abstracts of the archive selected by lists, labels of each sentence."""

import io
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from pubmill.convert.exports import WriterOptions
from pubmill.convert.hoc import read, write
from pubmill.convert.source_files import ConverterInput
from pubmill.errors import PubmillError
from pubmill.examples.kinds import LabelledSentence, MultilabelExample

ARCHIVE = {
    "Hoc-1/README.md": "Read me.",
    "Hoc-1/text/11.txt": "Cells died .\nNothing .\nThey grew and moved .\n",
    "Hoc-1/labels/11.txt": "<Resisting cell death--Apoptosis < < Sustaining proliferative signaling-- "
    "AND  Activating invasion and metastasis--Invasion",
    "Hoc-1/text/22.txt": "No label .\n",
    "Hoc-1/labels/22.txt": "< NULL",
}


def convert(folder: Path, listed: str = "22.txt,11.txt", **changed: str) -> list[MultilabelExample]:
    """`changed`: `text_11="..."` for another member `text/11.txt`."""
    contents = ARCHIVE | {f"Hoc-1/{name.replace('_', '/')}.txt": text for name, text in changed.items()}
    with tarfile.open(folder / "hoc.tar.gz", "w:gz") as tar:
        for name, text in contents.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            tar.addfile(entry, io.BytesIO(text.encode()))
    (folder / "dev.tsv").write_text(listed)
    inputs = {"archive": folder / "hoc.tar.gz", "dev": folder / "dev.tsv"}
    return list(read(ConverterInput("dev", inputs, {}, Counter())))


def test_an_abstract_has_labelled_sentences_and_is_published_a_row_each(tmp_path: Path) -> None:
    none, example = convert(tmp_path)
    assert (none.id, none.text, none.labels) == ("22", "No label .", [])
    assert example.document == "11"
    assert example.text == "Cells died . Nothing . They grew and moved ."
    moved = ["activating invasion and metastasis", "sustaining proliferative signaling"]
    assert example.labels == [moved[0], "resisting cell death", moved[1]]
    assert example.sentences == [
        LabelledSentence(start=0, end=12, labels=["resisting cell death"]),
        LabelledSentence(start=13, end=22, labels=[]),
        LabelledSentence(start=23, end=44, labels=moved),
    ]
    assert example.fault() is None
    assert [example.id for example in convert(tmp_path, "11\n22\n")] == ["11", "22"]
    text = "".join(write(convert(tmp_path), WriterOptions({}, None)))
    silent = ",".join(f"{i}_0" for i in range(10))
    assert text.split("\n") == [
        "labels\tsentence\tindex", f"{silent}\tNo label .\t22_s0",
        f"{silent.replace('7_0', '7_1')}\tCells died .\t11_s0", f"{silent}\tNothing .\t11_s1",
        f"{silent.replace('0_0', '0_1').replace('8_0', '8_1')}\tThey grew and moved .\t11_s2", "",
    ]  # fmt: skip


@pytest.mark.parametrize(("listed", "changed", "message"), [
    ("11.txt,33.txt", {}, r"no text or no labels of 33, which .*dev\.tsv names"),
    ("11.txt,a", {}, "number 2 is 'a'"), ("", {}, "number 1 is ''"),
    ("11", {"labels_11": "<  < "}, "labels/11.txt: labels of 2 sentences, but the text has 3"),
    ("11", {"labels_11": "< < < < "}, "labels of 4 sentences, but the text has 3"),
    ("11", {"labels_11": "< <Eating--Well< "}, "labels/11.txt: sentence 2: 'eating' is not one of the"),
    ("11", {"labels_11": " < < < "}, "labels/11.txt: expected one line"),
    ("11", {"labels_11": "< \n< < "}, "labels/11.txt: expected one line"),
    ("11", {"text_11": "One .\n\nThree .\n"}, "text/11.txt:2: expected a sentence, found a blank line"),
])  # fmt: skip
def test_contradictions_are_named(tmp_path: Path, listed: str, changed: dict[str, str], message: str) -> None:
    with pytest.raises(PubmillError, match=message):
        convert(tmp_path, listed, **changed)

"""PubMed RCT: sentences with their roles, and what a wrong line says."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pubmill.convert.pubmed_rct import read
from pubmill.convert.source_files import ConverterInput, SpecError
from pubmill.errors import PubmillError
from pubmill.examples.kinds import SequenceExample

TEXT = "###11\nAIM\tWe\ttest.\nRESULT\tIt works.\n\n###12\nAIM\tWe try.\n"


def convert(folder: Path, text: str, **options: Any) -> list[SequenceExample]:
    path = folder / "train.txt"
    path.write_text(text)
    given = {"labels": ["AIM", "RESULT"], **options}
    return list(read(ConverterInput("train", {"train": path}, given, Counter())))


def test_every_sentence_is_an_example_with_its_role(tmp_path: Path) -> None:
    assert convert(tmp_path, TEXT) == [
        SequenceExample(id="11-1", document="11", text="We test.", label="AIM"),
        SequenceExample(id="11-2", document="11", text="It works.", label="RESULT"),
        SequenceExample(id="12-1", document="12", text="We try.", label="AIM"),
    ]


@pytest.mark.parametrize(("old", "new", "message"), [
    ("###11\n", "", "1: expected `###ID`, then `LABEL<tab>sentence`; found 'AIM\\tWe\\ttest.'"),
    ("RESULT\tIt works.", "RESULT\t ", "3: expected `###ID`, then `LABEL<tab>sentence`; found"),
    ("RESULT\tIt works.", "RESULT", "3: expected `###ID`, then `LABEL<tab>sentence`; found 'RESULT'"),
    ("RESULT\tIt", "OTHER\tIt", "3: expected a label of ['AIM', 'RESULT'], found 'OTHER'"),
    ("###12", "### ", "6: expected `###ID`, then `LABEL<tab>sentence`; found 'AIM\\tWe try.'"),
])  # fmt: skip
def test_lines_of_another_form_are_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(PubmillError) as caught:
        convert(tmp_path, TEXT.replace(old, new, 1))
    assert str(caught.value).startswith(f"{tmp_path}/train.txt:{message}")


@pytest.mark.parametrize("labels", [[], None, "AIM", {"AIM": "AIM"}])
def test_labels_are_a_list(tmp_path: Path, labels: Any) -> None:
    with pytest.raises(SpecError, match="the converter's options: .*\n  labels: "):
        convert(tmp_path, TEXT, labels=labels)

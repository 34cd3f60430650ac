"""Columns of words: spellings of labels, separators, and the causes of refusals."""

from pathlib import Path
from typing import Any

import pytest

from pubmill.errors import PubmillError
from pubmill.new_specs.new_dataset import describe, new_dataset

ROWS = [
    [("Mice", "B-Species"), ("got", "O"), ("renal", "B-Disease"), ("failure", "I-Disease"), (".", "O")],
    [("They", "O"), ("slept", "O")],
]
BIO = ["B-Species", "O", "B-Disease", "I-Disease", "O"]


def swapped(label: str, mark: str = "-") -> str:
    return mark.join(reversed(label.split("-")))


def text_of(spell: Any, separator: str = "\t") -> str:
    lines = ["".join(f"{word}{separator}{spell(label)}\n" for word, label in rows) for rows in ROWS]
    return "\n".join(lines) + "\n"


def zero(label: str) -> str:
    return "0" if label == "O" else label


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (text_of(str), {}),
        (text_of(zero), {"outside": "0"}),
        (text_of(str.lower), {"outside": "o", "spelling": "b-TYPE"}),
        (text_of(lambda label: label.replace("-", "_")), {"spelling": "B_TYPE"}),
        (text_of(lambda label: label.replace("-", ":")), {"spelling": "B:TYPE"}),
        (text_of(swapped), {"spelling": "TYPE-B"}),
        (text_of(lambda label: zero(swapped(label, "_"))), {"outside": "0", "spelling": "TYPE_B"}),
        (text_of(str, " "), {"separator": "blank"}),
        (text_of(str, "    "), {"separator": "white_space"}),
        (text_of(str, " \t "), {"separator": "white_space"}),
        (text_of(lambda label: label[2:] or "O"), {"scheme": "bare"}),
        (
            text_of(lambda label: label.replace("B-S", "S-S").replace("I-", "E-")),
            {"scheme": "iobes"},
        ),
        (
            text_of(lambda one: one.replace("B-S", "W-S").replace("I-", "E-")) + "a\tB-X\nb\tM-X\nc\tE-X\n",
            {"scheme": "bmewo"},
        ),
        (
            "".join("\t".join(reversed(line.split("\t"))) + "\n" for line in text_of(str).split("\n")[:-1]),
            {"columns": ["label", "word"]},
        ),
    ],
)  # fmt: skip
def test_labels_have_many_spellings(tmp_path: Path, text: str, options: dict[str, Any]) -> None:
    (tmp_path / "train.tsv").write_text(text)
    made = describe(new_dataset([str(tmp_path / "train.tsv")], "mine", None, tmp_path, access="public"))
    assert made.form.converter == "pubmill.convert.conll:read"
    assert made.form.options == {"labels": "as_written", **options}
    lower = "b-TYPE" in options.values()
    assert made.first["train"]["labels"] == [
        label[:1] + label[1:].lower() if lower else label for label in BIO
    ]


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (text_of(lambda label: f"<{label}>"), r"2 columns with blank lines .* no labels of words .*'<O>'"),
        ("word\ttag\n" + text_of(zero), r"Is line 1 a line of headings\?"),
        (text_of(str) * 4 + "Mice\tNN\tO\n\n", r"train.tsv:37: 3 columns, where 28 lines .* have 2"),
    ],
)
def test_columns_with_other_labels_are_refused_with_the_cause(tmp_path: Path, text: str, cause: str) -> None:
    (tmp_path / "train.tsv").write_text(text)
    with pytest.raises(PubmillError, match=cause):
        describe(new_dataset([str(tmp_path / "train.tsv")], "mine", None, tmp_path, access="public"))

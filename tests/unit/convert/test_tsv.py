"""Tab-separated sequence datasets: layouts by split, selected rows, dummies as mentions, and errors."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as hypothesis_given
from hypothesis import strategies as st

from pubmill.convert.exports import WriterOptions
from pubmill.convert.source_files import ConverterInput
from pubmill.convert.tsv import read, write
from pubmill.errors import PubmillError
from pubmill.examples.kinds import SequenceExample
from pubmill.messages.quotations import withholding

PLAIN: dict[str, Any] = {"columns": ["text", "label"], "labels": ["0", "1"]}
RELATION = "@DISEASE$ and @GENE$ meet"
CELL = st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"]), min_size=1).filter(
    str.strip
)


def convert(
    folder: Path, text: str, left_out: Counter[str] | None = None, **options: Any
) -> list[SequenceExample]:
    (folder / "a.tsv").write_bytes(text.encode())
    given = ConverterInput(
        "dev", {"dev": folder / "a.tsv"}, {**PLAIN, **options}, Counter() if left_out is None else left_out
    )
    return list(read(given))


def test_rows_become_examples_by_the_layout_of_their_split(tmp_path: Path) -> None:
    assert convert(tmp_path, 'He said "no"\t0\n x \t1\n') == [
        SequenceExample(id="dev-000001", document=None, text='He said "no"', label="0"),
        SequenceExample(id="dev-000002", document=None, text=" x ", label="1"),
    ]
    (example,) = convert(tmp_path, f"{RELATION}\t1\n", entities={"@GENE$": "GENE", "@DISEASE$": "DISEASE"})
    gene, disease = example.entities
    assert (gene.type, example.text[gene.start : gene.end]) == ("GENE", "@GENE$")
    assert (disease.type, example.text[disease.start : disease.end]) == ("DISEASE", "@DISEASE$")
    with withholding(True), pytest.raises(PubmillError) as caught:
        convert(tmp_path, "a\tsecret\n")
    assert "secret" not in str(caught.value) and "6 characters" in str(caught.value)
    (example,) = convert(
        tmp_path,
        "pmid\tid\tq\tc\tyear\tanswer\n7\tq1\tWhy?\tSo.\t1999\tyes\n",
        header=["pmid", "id", "q", "c", "year", "answer"],
        columns=["document", "id", "text", "text_pair", "skip", "label"],
        labels={"yes": "true", "no": "false"},
    )
    assert example == SequenceExample(id="q1", document="7", text="Why?", text_pair="So.", label="true")
    examples = convert(
        tmp_path, "label\ttext\n1\ta\n", dev={"header": ["label", "text"], "columns": ["label", "text"]},
        train={"columns": ["text"]},
    )  # fmt: skip
    assert [(example.text, example.label) for example in examples] == [("a", "1")]


def test_a_split_is_cut_out_and_the_rest_counted(tmp_path: Path) -> None:
    rows = "".join(f"{text}\t1\n" for text in "abcde")
    left_out: Counter[str] = Counter()
    examples = convert(tmp_path, rows, left_out, first_row=2, last_row=3)
    assert [(example.id, example.text) for example in examples] == [("dev-000001", "b"), ("dev-000002", "c")]
    assert left_out == {"rows_outside_the_cut": 3}
    assert [example.text for example in convert(tmp_path, rows, first_row=4)] == ["d", "e"]


@pytest.mark.parametrize(("text", "options", "message"), [
    ("a\t1\nb\n", {}, r"a\.tsv:2: expected 2 columns \(text, label\), found 1"),
    ("a\t1\n\n", {}, r"a\.tsv:2: expected 2 columns"),
    ("a\t1\tx\n", {}, r"a\.tsv:1: expected 2 columns .*, found 3"),
    ("a\t1\nb\t2\n", {}, r"a\.tsv:2: expected a label \(0, 1\), found '2'"),
    (" \t1\n", {}, r"a\.tsv:1: the column `text` is empty"),
    ("a\t1\n", {"header": ["sentence", "label"]}, r"a\.tsv:1: expected the headings sentence<TAB>label"),
    ("", {"header": ["sentence", "label"]}, r"a\.tsv:1: expected the headings"),
    ("0\ta\t1\n2\tb\t1\n", {"columns": ["number", "text", "label"]}, r"a\.tsv:2: .*number 1, found '2'"),
    ("no gene\t1\n", {"entities": {"@GENE$": "GENE"}}, r"a\.tsv:1: expected @GENE\$ once .* 0 times"),
    ("@X$ @X$\t1\n", {"entities": {"@X$": "X"}}, r"a\.tsv:1: expected @X\$ once .* 2 times"),
    ("a\t1\n", {"columns": ["text"]}, "`text` and `label` among them"),
    ("a\t1\n", {"columns": ["text", "label", "text"]}, "only `skip` more than once"),
    ("a\t1\n", {"columns": ["text", "label", "colour"]}, "one of id, document, text"),
    ("a\t1\n", {"dev": "all"}, "option `dev` is 'all'"),
])  # fmt: skip
def test_other_forms_and_options_are_reported(
    tmp_path: Path, text: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(PubmillError, match=message):
        convert(tmp_path, text, **options)


@hypothesis_given(st.lists(st.tuples(CELL, st.sampled_from("01")), min_size=1, max_size=5))
def test_what_is_read_is_written_again(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    text = "".join(f"{cell}\t{label}\n" for cell, label in rows)
    examples = convert(tmp_path_factory.getbasetemp(), text)
    assert "".join(write(examples, WriterOptions({"columns": ["text", "label"]}, None))) == text

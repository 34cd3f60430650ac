"""Reading CoNLL files: documents, label forms, and every malformed line told with its place."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.convert.conll import read
from pubmill.errors import PubmillError
from pubmill.examples import TokensExample

FIRST = {"labels": "first_character"}


def convert(path: Path, text: str, options: dict[str, str] = FIRST) -> list[TokensExample]:
    path.write_bytes(text.encode())
    return list(read(path, "dev", options))


def test_sentences_get_ids_words_and_cut_labels(tmp_path: Path) -> None:
    examples = convert(
        tmp_path / "a.tsv", "No\tO\npain\tB-Disease\nnow\tI-Disease\n\nAspirin\tB-Chemical\n\n"
    )
    assert examples == [
        TokensExample(id="dev-000001", document=None, words=["No", "pain", "now"], labels=["O", "B", "I"]),
        TokensExample(id="dev-000002", document=None, words=["Aspirin"], labels=["B"]),
    ]


def test_types_can_be_kept(tmp_path: Path) -> None:
    (example,) = convert(tmp_path / "a.tsv", "pain\tB-Disease\nor\tO\n", {"labels": "as_written"})
    assert example.labels == ["B-Disease", "O"]


def test_a_begin_right_after_another_type_stays_a_begin(tmp_path: Path) -> None:
    (example,) = convert(tmp_path / "a.tsv", "IL-2\tB-protein\ngene\tB-DNA\n")
    assert example.labels == ["B", "B"]


def test_document_marks_are_no_words_and_end_sentences(tmp_path: Path) -> None:
    text = "-DOCSTART- 95369245\n\nA\tO\n\nB\tB\n-DOCSTART- 2\nC\tO\n"
    examples = convert(tmp_path / "a.tsv", text)
    assert [(example.document, example.words) for example in examples] == [
        ("95369245", ["A"]),
        ("95369245", ["B"]),
        ("2", ["C"]),
    ]


def test_a_last_line_without_line_feed_and_windows_lines_are_read(tmp_path: Path) -> None:
    (example,) = convert(tmp_path / "a.tsv", "A\tO\r\nB\tB")
    assert (example.words, example.labels) == (["A", "B"], ["O", "B"])


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("A\tO\nB B\n", 2, "word<TAB>label"),
        ("A\tO\tO\n", 1, "word<TAB>label"),
        ("A\tO\n\tO\n", 2, "word<TAB>label"),
        ("A\tO\n\nB\tE-Disease\n", 3, "BIO label"),
        ("A\t\n", 1, "BIO label"),
        ("A\tB-\n", 1, "BIO label"),
        ("-DOCSTART-\n", 1, "-DOCSTART- ID"),
        ("-DOCSTART-\tO\n", 1, "-DOCSTART- ID"),
    ],
)
def test_malformed_lines_are_told_with_file_and_line(tmp_path: Path, text: str, line: int, told: str) -> None:
    with pytest.raises(PubmillError, match=rf"a\.tsv:{line}: .*{told}"):
        convert(tmp_path / "a.tsv", text)


def test_missing_file_other_encoding_and_unknown_options_are_told(tmp_path: Path) -> None:
    with pytest.raises(PubmillError, match="does not exist"):
        list(read(tmp_path / "none.tsv", "dev", FIRST))
    (tmp_path / "latin.tsv").write_bytes(b"caf\xe9\tO\n")
    with pytest.raises(PubmillError, match="UTF-8"):
        list(read(tmp_path / "latin.tsv", "dev", FIRST))
    for options in ({}, {"labels": "second"}, {**FIRST, "lower": "yes"}):
        with pytest.raises(PubmillError, match="first_character"):
            convert(tmp_path / "a.tsv", "A\tO\n", options)


WORDS = st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=["Cs"]), min_size=1).filter(
    lambda word: word.strip() and not word.startswith("-DOCSTART-")
)
SENTENCES = st.lists(
    st.lists(st.tuples(WORDS, st.sampled_from(["O", "B", "I", "B-x", "I-y-z"])), min_size=1), max_size=5
)


@given(SENTENCES)
def test_every_word_and_label_survives(tmp_path_factory: pytest.TempPathFactory, sentences: list) -> None:
    path = tmp_path_factory.getbasetemp() / "any.tsv"
    text = "\n".join("".join(f"{word}\t{label}\n" for word, label in rows) for rows in sentences)
    examples = convert(path, text, {"labels": "as_written"})
    assert [list(zip(example.words, example.labels, strict=True)) for example in examples] == sentences

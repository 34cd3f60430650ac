"""Plain text as a source: one document per file, per line, or between blank lines."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.corpus import plain_text
from pubmill.corpus.plain_text import Division, read_plain_text
from pubmill.corpus.shards import joined
from pubmill.errors import PubmillError

TEXT = "\ufeff\nOne two\nthree.\n \n\nFour.\r\n\r\nFive\rsix.\n"


def read(path: Path, documents: Division) -> list[tuple[str, tuple[str, ...]]]:
    found = read_plain_text(path, "web", documents, "eng")
    return [(one.id, tuple(text for _, text in one.sections)) for one in found]


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        ("file", [("web:page", ("One two three.", "Four.", "Five six."))]),
        (
            "line",
            [
                ("web:page:2", ("One two",)),
                ("web:page:3", ("three.",)),
                ("web:page:6", ("Four.",)),
                ("web:page:8", ("Five six.",)),
            ],
        ),
        (
            "blank-line",
            [("web:page:2", ("One two three.",)), ("web:page:6", ("Four.",)), ("web:page:8", ("Five six.",))],
        ),
    ],
)
def test_divisions(tmp_path: Path, documents: Division, expected: list[tuple[str, tuple[str, ...]]]) -> None:
    plain, packed = tmp_path / "page.txt", tmp_path / "page.txt.gz"
    plain.write_bytes(TEXT.encode())
    packed.write_bytes(gzip.compress(TEXT.encode()))
    assert read(plain, documents) == read(packed, documents) == expected


@given(text=st.text(st.sampled_from("ab\n\r \t"), max_size=40))
def test_no_word_is_lost_however_a_file_is_divided(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.mktemp("texts") / "page.txt"
    path.write_bytes(text.encode())
    for documents in ("file", "line", "blank-line"):
        found = list(read_plain_text(path, "web", documents))
        assert " ".join(joined(one.sections) for one in found).split() == text.split()
        assert len({one.id for one in found}) == len(found)


def test_damage_is_reported_with_file_and_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "page.txt"
    path.write_bytes(b"fine\nna\xefve\n")
    with pytest.raises(PubmillError, match=r"page\.txt:2: not UTF-8 \(byte 3 of the line\)"):
        read(path, "file")
    packed = tmp_path / "page.txt.gz"
    packed.write_bytes(gzip.compress(b"one\n" * 5000)[:-9])
    with pytest.raises(PubmillError, match="truncated or damaged gzip after line"):
        read(packed, "line")
    with pytest.raises(PubmillError, match="does not exist"):
        read(tmp_path / "no.txt", "line")
    monkeypatch.setattr(plain_text, "LONGEST", 10)
    path.write_bytes(b"12345\n12345\n")
    with pytest.raises(
        PubmillError, match=r"page\.txt:2: the document that begins on line 1 has more than 10"
    ):
        read(path, "file")
    path.write_bytes(b"1\n12345678901\n")
    with pytest.raises(PubmillError, match=r"page\.txt:2: a line of more than 10 bytes"):
        read(path, "line")


def test_texts_of_just_the_largest_size_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_text, "LONGEST", 10)
    path = tmp_path / "page.txt"
    path.write_bytes(b"1234\n1234\n")
    assert read(path, "file") == [("web:page", ("1234 1234",))]
    path.write_bytes(b"123456789\n123456789\n")
    assert [texts for _, texts in read(path, "line")] == [("123456789",)] * 2
    path.write_bytes(b"1234\n1234\n\n1234\n12345\n")
    with pytest.raises(PubmillError, match=r":5: the document that begins on line 4 has more than 10 char"):
        read(path, "blank-line")


def test_only_the_first_line_may_have_a_byte_order_mark_and_a_language_is_optional(tmp_path: Path) -> None:
    path = tmp_path / "page.txt"
    path.write_text("\ufeffa\n\ufeffb\n")
    found = list(read_plain_text(path, "web", "line"))
    assert [joined(one.sections) for one in found] == ["a", "\ufeffb"]
    assert {one.languages for one in found} == {()}


def test_an_empty_gzip_file_is_damaged(tmp_path: Path) -> None:
    packed = tmp_path / "page.txt.gz"
    packed.write_bytes(b"")
    with pytest.raises(PubmillError, match="truncated or damaged gzip after line 0: it is empty"):
        list(read_plain_text(packed, "mine", "line"))

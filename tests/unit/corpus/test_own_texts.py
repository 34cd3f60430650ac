"""JSON lines and plain text as a text source: keys, ids, division, and errors with file and line."""

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.corpus import own_texts
from pubmill.corpus.own_texts import Division, read_plain_text, read_text
from pubmill.corpus.shards import Document, joined
from pubmill.errors import PubmillError

TEXT = "\ufeff\nOne two\nthree.\n \n\nFour.\r\n\r\nFive\rsix.\n"


LAST = [("web:page:6", ("Four.",)), ("web:page:8", ("Five six.",))]


def read_plain(path: Path, documents: Division) -> list[tuple[str, tuple[str, ...]]]:
    found = read_plain_text(path, "web", documents, "eng")
    return [(one.id, tuple(text for _, text in one.sections)) for one in found]


@pytest.mark.parametrize(("documents", "expected"), [
    ("file", [("web:page", ("One two three.", "Four.", "Five six."))]),
    ("line", [("web:page:2", ("One two",)), ("web:page:3", ("three.",)), *LAST]),
    ("blank-line", [("web:page:2", ("One two three.",)), *LAST]),
])  # fmt: skip
def test_divisions(tmp_path: Path, documents: Division, expected: list[tuple[str, tuple[str, ...]]]) -> None:
    plain, packed = tmp_path / "page.txt", tmp_path / "page.txt.gz"
    plain.write_bytes(TEXT.encode())
    packed.write_bytes(gzip.compress(TEXT.encode()))
    assert read_plain(plain, documents) == read_plain(packed, documents) == expected


@given(text=st.text(st.sampled_from("ab\n\r \t"), max_size=40))
def test_no_word_of_a_divided_file_is_lost(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("texts") / "page.txt"
    path.write_bytes(text.encode())
    for documents in ("file", "line", "blank-line"):
        found = list(read_plain_text(path, "web", documents))
        assert " ".join(joined(one.sections) for one in found).split() == text.split()
        assert len({one.id for one in found}) == len(found)


@pytest.mark.parametrize(("content", "documents", "message"), [
    (b"fine\nna\xefve\n", "file", r"page\.txt:2: not UTF-8 \(byte 3 of the line\)"),
    (None, "line", "does not exist"),
    (b"12345\n12345\n", "file", ":2: the document that begins on line 1 has more than 10 characters"),
    (b"1234\n1234\n\n1234\n12345\n", "blank-line", ":5: the document that begins on line 4 has more"),
    (b"1\n12345678901\n", "line", r"page\.txt:2: a line of more than 10 bytes"),
])  # fmt: skip
def test_damaged_and_endless_texts_are_reported_with_file_and_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None, documents: Division, message: str
) -> None:
    monkeypatch.setattr(own_texts, "LONGEST", 10)
    if content is not None:
        (tmp_path / "page.txt").write_bytes(content)
    with pytest.raises(PubmillError, match=message):
        read_plain(tmp_path / "page.txt", documents)


@pytest.mark.parametrize(("packed", "message"), [
    (b"", "0: it is empty"), (gzip.compress(b"one\n" * 5000)[:-9], "[1-9]"),
], ids=["empty", "cut"])  # fmt: skip
def test_a_damaged_gzip_file_is_reported_with_the_last_line(
    tmp_path: Path, packed: bytes, message: str
) -> None:
    (tmp_path / "page.txt.gz").write_bytes(packed)
    with pytest.raises(PubmillError, match=f"truncated or damaged gzip after line {message}"):
        read_plain(tmp_path / "page.txt.gz", "line")


def test_texts_of_just_the_largest_size_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_texts, "LONGEST", 10)
    path = tmp_path / "page.txt"
    path.write_bytes(b"1234\n1234\n")
    assert read_plain(path, "file") == [("web:page", ("1234 1234",))]
    path.write_bytes(b"123456789\n123456789\n")
    assert [texts for _, texts in read_plain(path, "line")] == [("123456789",)] * 2
    monkeypatch.setattr(own_texts, "LONGEST", 30)
    assert len(read(tmp_path, {"text": "a"}, {"text": "b"})) == 2
    with pytest.raises(PubmillError, match=r"notes\.jsonl:2: a line of more than 30 bytes"):
        read(tmp_path, {"text": "a"}, {"text": "b" * 30})


def test_only_the_first_line_may_have_a_byte_order_mark_and_a_language_is_optional(tmp_path: Path) -> None:
    path = tmp_path / "page.txt"
    path.write_text("\ufeffa\n\ufeffb\n")
    found = list(read_plain_text(path, "web", "line"))
    assert [joined(one.sections) for one in found] == ["a", "\ufeffb"]
    assert {one.languages for one in found} == {()}


def read(folder: Path, *rows: dict[str, Any] | str, language: str = "") -> list[Document]:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    path = folder / "notes.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", errors="surrogatepass")
    return list(read_text(path, "notes", language))


def test_every_key_empty_abstracts_and_lines_and_paragraphs_are_read(tmp_path: Path) -> None:
    row = {
        "abstract": " One\n two. ", "title": "T", "pmid": "007", "id": "x", "lang": "EN",
        "date": "2001-02-03", "license": "CC0", "src": 5,
    }  # fmt: skip
    assert read(tmp_path, row) == [
        Document(
            id="pmid:7", pmid="7", date="2001-02-03", published="2001", languages=("eng",), licence="CC0",
            title="T", sections=(("", "One two."),),
        )
    ]  # fmt: skip
    rows = read(tmp_path, {"abstract": ""}, "", {"abstract": "a"})
    assert [row.sections for row in rows] == [(), (("", "a"),)]
    rows = read(tmp_path, {"text": "One\ntwo.\n\n\nThree."}, {"text": " "}, {"text": "One two.\n\nThree."})
    assert [row.sections for row in rows] == [
        (("", "One two."), ("", "Three.")), (), (("", "One two."), ("", "Three.")),
    ]  # fmt: skip
    assert rows[0].id == rows[2].id != rows[1].id


@pytest.mark.parametrize(("given", "found"), [
    ("ENG", ("eng",)), ("eng fre", ("eng", "fre")), ("de, it", ("ger", "ita")), ("", ("por",)),
    ("qq", ("qq",)),
])  # fmt: skip
def test_languages(tmp_path: Path, given: str, found: tuple[str, ...]) -> None:
    assert read(tmp_path, {"abstract": "a", "lang": given}, language="pt")[0].languages == found


def test_spellings_and_compressed_files_are_the_same(tmp_path: Path) -> None:
    rows = read(
        tmp_path,
        {"abstract": "a", "licence": "A", "license": "B", "lang": "fr", "language": "de"},
        {"abstract": "a", "license": "B", "language": "de"},
    )
    assert [(row.licence, row.languages) for row in rows] == [("A", ("fre",)), ("B", ("ger",))]
    rows = read(tmp_path, {"abstract": "é"})
    packed = tmp_path / "notes.jsonl.gz"
    packed.write_bytes(gzip.compress((tmp_path / "notes.jsonl").read_bytes()))
    assert list(read_text(packed, "notes")) == rows
    packed.write_bytes(packed.read_bytes()[:-6])
    with pytest.raises(PubmillError, match="truncated or damaged gzip"):
        list(read_text(packed, "notes"))


@pytest.mark.parametrize(("line", "word"), [
    ('{"abstract": ', "not valid JSON"), ("[" * 100_000, "not valid JSON"), ("[1]", 'text under "abstract"'),
    ('{"title": "x"}', 'text under "abstract"'), ('{"abstract": null}', 'text under "abstract"'),
    ('{"abstract": "a", "text": "b"}', 'text under "abstract" or "text"'),
    ('{"text": "\\ud800"}', "surrogate"),
    ('{"abstract": "a", "title": 5}', '"title" must be text'),
    ('{"abstract": "\\ud800"}', "surrogate"),
    ('{"abstract": "a", "pmid": "PMC5"}', '"pmid" must be a number'),
    ('{"abstract": "a", "pmid": 5.5}', '"pmid" must be text or a whole number'),
    (f'{{"abstract": "a", "pmid": "{"7" * 5000}"}}', '"pmid" must be a number of at most 18 digits'),
    (f'{{"abstract": "a", "pmid": {"7" * 5000}}}', "not valid JSON"),
    ('{"abstract": "a", "date": "2001-13"}', '"date" must be'),
    ('{"text": "a", "text": "b"}', "the key 'text' occurs twice"),
    ('{"text": "a", "id": "\\ud800"}', '"id" holds half of a surrogate pair'),
    ('{"abstract": "a", "pmid": true}', "must be text or a whole number, found True"),
    (f'{{"abstract": "a", "pmid": "{"9" * 19}"}}', "of at most 18 digits"),
    *((f'{{"abstract": "a", "date": "{date}"}}', '"date" must be YYYY, YYYY-MM or YYYY-MM-DD')
      for date in ("May 2001", "2001-02-29", "01-05-2001", "2001-5", "20010501", "2001-05-01T00")),
])  # fmt: skip
def test_errors_name_file_and_line(tmp_path: Path, line: str, word: str) -> None:
    with pytest.raises(PubmillError, match=r"notes.jsonl:2: ") as caught:
        read(tmp_path, {"abstract": "a"}, line)
    assert word in str(caught.value)


def test_the_pmid_comes_before_the_id_and_empty_ones_do_not_count(tmp_path: Path) -> None:
    digest = hashlib.sha256(b"t\na").hexdigest()[:16]
    assert [row.id for row in read(tmp_path, {"abstract": "a", "title": "t"})] == [f"text:{digest}"]
    given: list[dict[str, Any]] = [
        {"pmid": 9, "id": "x"}, {"pmid": "", "id": "x"}, {"pmid": None, "id": 0}, {"pmid": "9" * 18},
    ]  # fmt: skip
    found = read(tmp_path, *({"abstract": "a"} | row for row in given))
    assert [(row.id, row.pmid) for row in found] == [
        ("pmid:9", "9"), ("notes:x", ""), ("notes:0", ""), (f"pmid:{'9' * 18}", "9" * 18),
    ]  # fmt: skip


@pytest.mark.parametrize("date", ["2001", "2001-05", "2000-02-29", ""])
def test_dates_may_be_less_than_a_day(tmp_path: Path, date: str) -> None:
    (row,) = read(tmp_path, {"abstract": "a", "date": date})
    assert (row.date, row.published) == (date, date[:4])


@pytest.mark.parametrize("key", ["pmid", "date", "id"])
def test_a_message_quotes_the_beginning_of_an_endless_value(tmp_path: Path, key: str) -> None:
    value: Any = "9" * 10_000
    for wrong in (value, [value]):
        if key != "id" or wrong != value:
            with pytest.raises(PubmillError) as caught:
                read(tmp_path, {"text": "a", key: wrong})
            assert len(str(caught.value)) < 300

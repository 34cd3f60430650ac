"""Invented MIMIC-III notes: quoting, damage, and messages without the content of a note."""

import csv
import gzip
import io
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.corpus import clinical
from pubmill.corpus.clinical import normalised, read_notes
from pubmill.corpus.shards import Document
from pubmill.errors import PubmillError
from tests.world.part import CANARY

HEADER = (
    "ROW_ID", "SUBJECT_ID", "HADM_ID", "CHARTDATE", "CHARTTIME", "STORETIME", "CATEGORY", "DESCRIPTION",
    "CGID", "ISERROR", "TEXT",
)  # fmt: skip
note_text = st.text(st.sampled_from('ab",\n\r\t \0é['), max_size=30)


def line(row: int, text: str, category: str = "Physician ", error: str = "") -> list[str]:
    return [str(row), "1", "2", "2151-07-16", "", "", category, "Note", "", error, text]


def rendered(*rows: list[str], header: tuple[str, ...] = HEADER, ending: str = "\n") -> bytes:
    """Return a note in MIMIC-III's form: text in quotation marks, with inner quotation marks doubled."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator=ending, quoting=csv.QUOTE_ALL)
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()


def read(folder: Path, content: bytes, **options: Any) -> list[Document]:
    path = folder / "NOTEEVENTS.csv.gz"
    path.write_bytes(gzip.compress(content))
    return list(read_notes(path, **options))


def test_a_note_is_a_document_of_paragraphs_whose_brackets_stay_unless_asked(tmp_path: Path) -> None:
    content = rendered(line(1, "Dr. [**Last Name 5**]"))
    assert read(tmp_path, content)[0].sections == (("", "Dr. [**Last Name 5**]"),)
    assert read(tmp_path, content, brackets="normalise")[0].sections == (("", "Dr. last name"),)
    text = 'Chief "Complaint", pain\n  for\ttwo days\n \n\nPlan:\r\nrest, and\r\n\r\nfluids\0.\n'
    for ending in ("\n", "\r\n"):
        assert read(tmp_path, rendered(line(7, text), ending=ending)) == [
            Document(
                id="mimic:7", languages=("eng",), types=("Physician",), licence=clinical.LICENCE,
                sections=(
                    ("", 'Chief "Complaint", pain for two days'), ("", "Plan: rest, and"), ("", "fluids ."),
                ),
            )
        ]  # fmt: skip


def test_errors_and_categories_are_read_from_columns_by_name(tmp_path: Path) -> None:
    notes = read(tmp_path, rendered(line(1, "a", error="1"), line(2, "b", "Nursing"), line(3, " \n", "")))
    assert [(note.flags, note.types, note.sections) for note in notes] == [
        (("error",), ("Physician",), (("", "a"),)), ((), ("Nursing",), (("", "b"),)), ((), (), ()),
    ]  # fmt: skip
    header = ("TEXT", "iserror", "CATEGORY", "ROW_ID")
    assert [n.id for n in read(tmp_path, rendered(["a, b", "", "Physician", "05"], header=header))] == [
        "mimic:5"
    ]


@pytest.mark.parametrize(("bracket", "words"), [
    ("[**Hospital1 18**]", "hospital"), ("[**First Name8 (NamePattern2) **]", "first name"),
    ("[**Known lastname 1234**]", "known lastname"), ("[**2151-7-16**]", "date"), ("[**2151**]", "date"),
    ("[**10/22**]", "date"), ("[**Month/Day/Year 4**]", "month day year"), ("[** **]", "unknown"),
    ("[**Hospital\n1**]", "hospital"), ("[**open", "[**open"), ("[**one [**Name (NI) **]", "[**one name"),
])  # fmt: skip
def test_brackets_become_what_they_stand_for(bracket: str, words: str) -> None:
    assert normalised(f"to {bracket}, {bracket}.") == f"to {words}, {words}."


@given(texts=st.lists(note_text, max_size=5))
def test_no_note_is_lost(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    folder = tmp_path_factory.mktemp("notes")
    notes = read(folder, rendered(*(line(n, text) for n, text in enumerate(texts))))
    assert [note.id for note in notes] == [f"mimic:{n}" for n in range(len(texts))]
    for note, text in zip(notes, texts, strict=True):
        assert " ".join(part for _, part in note.sections).split() == text.replace("\0", " ").split()


GOOD = rendered(line(1, "first"), line(2, f"{CANARY} was seen"))
BROKEN = {
    "cut gzip": (gzip.compress(GOOD * 40)[:-30], "truncated or damaged gzip"),
    "not gzip": (GOOD, "truncated or damaged gzip"),
    "missing column": (gzip.compress(rendered(header=HEADER[:-1])), "not so TEXT"),
    "column twice": (gzip.compress(rendered(header=(*HEADER, "TEXT"))), "not so TEXT"),
    "empty": (gzip.compress(b""), "not so ROW_ID"),
    "fields": (gzip.compress(GOOD + f"3,{CANARY}\n".encode()), "expected 11 fields, found 2"),
    "no end quote": (gzip.compress(GOOD + f'3,"{CANARY}\n'.encode()), "not the CSV that MIMIC-III has"),
    "stray quote": (gzip.compress(GOOD + f'"3"{CANARY},\n'.encode()), "not the CSV that MIMIC-III has"),
    "row id": (gzip.compress(rendered(line(1, "x")).replace(b'"1"', CANARY.encode())), "no number"),
    "iserror": (gzip.compress(rendered(line(1, "x", error=CANARY))), "ROW_ID 1: ISERROR"),
    "not utf-8": (gzip.compress(GOOD + b"\xff" + CANARY.encode() + b"\n"), "not the CSV"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BROKEN)
def test_damage_is_reported_without_a_word_of_a_note(tmp_path: Path, kind: str) -> None:
    content, word = BROKEN[kind]
    path = tmp_path / "NOTEEVENTS.csv.gz"
    path.write_bytes(content)
    with pytest.raises(PubmillError) as caught:
        list(read_notes(path))
    assert word in str(caught.value) and str(path) in str(caught.value)
    assert CANARY not in str(caught.value)


def test_an_endless_field_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clinical, "LONGEST", 1000)
    limit = csv.field_size_limit()
    with pytest.raises(PubmillError, match=r"after line 3: .*field larger than field limit"):
        read(tmp_path, GOOD + b'3,"' + b"x" * 2000)
    assert csv.field_size_limit() == limit
    with pytest.raises(PubmillError, match="does not exist"):
        list(read_notes(tmp_path / "no.csv"))


def test_an_endless_bracket_is_replaced_in_time() -> None:
    """Trying each digit as the one of a date, or each parenthesis as the one that is closed, would take
    hours."""
    assert normalised(f"a [**{'2 ' * 500_000}name**] b [**{' ' * 500_000}**]") == "a name b unknown"
    assert normalised(f"[**a (b {'(' * 1_000_000}) c {'(' * 1_000_000}name**]") == "a c name"


@given(st.text("ab() ", max_size=30))
def test_asides_end_at_the_first_parenthesis_that_closes(inside: str) -> None:
    words = " ".join(re.findall("[a-z]+", re.sub(r"\([^)]*\)", " ", inside)))
    assert normalised(f"[**{inside}**]") == (words or "unknown")

"""Words and n-grams by which texts are compared; dates and paragraphs of documents."""

import hashlib

import numpy as np
import pytest

from pubmill.corpus import ngrams
from pubmill.corpus.medline_bytes import day, year
from pubmill.corpus.ngrams import WordHashes, ngram_hashes, plain_words
from pubmill.corpus.plain_text import paragraphs


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("S-100 binds", ["s", "100", "binds"]),
        ("S - 100 BINDS!", ["s", "100", "binds"]),
        ("e\N{LATIN SMALL LIGATURE FI}cacy of IL_2", ["eficacy", "of", "il", "2"]),
        ("STRASSE Stra\N{LATIN SMALL LETTER SHARP S}e", ["strasse", "strasse"]),
        ("\N{GREEK CAPITAL LETTER ALPHA}-synuclein", ["\N{GREEK SMALL LETTER ALPHA}", "synuclein"]),
        (" ,.;", []),
    ],
)
def test_words_are_compared_without_case_punctuation_and_form(text: str, words: list[str]) -> None:
    assert plain_words(text) == words


def test_a_word_has_the_same_hash_on_every_machine_and_in_every_place() -> None:
    hashes = WordHashes()(["gene", "of", "gene"])
    expected = int.from_bytes(hashlib.blake2b(b"gene", digest_size=8).digest(), "little")
    assert hashes.dtype == np.uint64 and hashes[0] == hashes[2] == expected != hashes[1]
    assert len(WordHashes()([])) == 0


def test_hashes_stay_the_same_after_the_cache_is_emptied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ngrams, "_KNOWN", 2)
    made = WordHashes()
    first = made(["a", "b", "c"])
    assert (made(["c"]) == first[2]).all() and (made(["a", "b", "c"]) == first).all()


def test_equal_ngrams_have_equal_hashes_and_order_counts() -> None:
    words = WordHashes()("a b c a b c b a".split())
    found = ngram_hashes(words, 3)
    assert len(found) == 6 and found[0] == found[3]
    assert len(set(found.tolist())) == 5  # abc, bca, cab, bcb, cba
    assert (ngram_hashes(words, 1) == words).all()
    assert len(ngram_hashes(words, 8)) == 1 and len(ngram_hashes(words, 9)) == 0
    assert ngram_hashes(words[:2], 3).dtype == np.uint64


def test_the_hash_of_an_ngram_is_a_polynomial_of_its_words() -> None:
    """Stored indexes of evaluation texts hold these numbers."""
    first, second = 2**63 + 5, 7
    found = ngram_hashes(np.array([first, second], np.uint64), 2)
    assert int(found[0]) == (first * 0x9E3779B97F4A7C15 + second) % 2**64


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("1998", "3", "7"), "1998-03-07"),
        ((" 1998 ", "12", "31"), "1998-12-31"),
        (("1998", "3", None), "1998-03"),
        (("1998", "Mar", "7"), "1998"),
        ((None, "3", "7"), ""),
        (("98", "1", "1"), "0098-01-01"),
    ],
)
def test_dates_end_at_the_first_part_that_is_no_number(parts: tuple[str | None, ...], expected: str) -> None:
    assert day(*parts) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1998 Dec-1999 Jan", "1998"),
        ("Winter 2007", "2007"),
        ("1509", "1509"),
        ("1409 and 2100", ""),
        ("12007", ""),
        ("", ""),
    ],
)
def test_the_first_year_of_a_text(text: str, expected: str) -> None:
    assert year(text) == expected


def test_blank_lines_separate_paragraphs_and_other_breaks_are_spaces() -> None:
    assert paragraphs("one\ntwo\n \t\nthree\r\n\r\nfour\0five\n\n\n") == ["one two", "three", "four five"]
    assert paragraphs(" \n\n ") == []

"""Conversion of notes with character mentions to labelled words."""

from collections import Counter

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from pubmill.convert.words import NoteMention, Sentence, sentences
from pubmill.examples.tagging import to_mentions


def read(note: str, *mentions: tuple[int, int, str]) -> tuple[list[Sentence], Counter[str]]:
    left_out: Counter[str] = Counter()
    return list(sentences(note, [NoteMention(*mention) for mention in mentions], left_out)), left_out


def test_lines_are_sentences_and_mentions_cut_words_and_join_lines() -> None:
    found, left_out = read("\nNo pain .\n \nHigh fever today\n", (4, 8, "P"), (13, 23, "P"))
    assert found == [
        Sentence(2, ["No", "pain", "."], [(1, 2, "P")]),
        Sentence(4, ["High", "fever", "today"], [(0, 2, "P")]),
    ]
    assert [sentence.labels for sentence in found] == [["O", "B-P", "O"], ["B-P", "I-P", "O"]]
    assert not left_out
    note = "a 70yo man (fever)."
    found, _ = read(note, (2, 4, "AGE"), (note.index("fever"), note.index(")"), "P"))
    assert found[0].words == ["a", "70", "yo", "man", "(", "fever", ")."]
    assert found[0].labels == ["O", "B-AGE", "O", "O", "O", "B-P", "O"]
    found, _ = read("left hip\nfracture noted\nand more\n", (5, 17, "P"))
    assert found == [
        Sentence(1, ["left", "hip", "fracture", "noted"], [(1, 3, "P")]),
        Sentence(3, ["and", "more"], []),
    ]
    found, left_out = read("a \n b\n", (0, 3, "X"), (1, 4, "Y"))
    assert [sentence.labels for sentence in found] == [["B-X"], ["O"]]
    assert left_out == {"mentions_without_words": 1}


def test_of_overlapping_mentions_the_longest_stays_or_all() -> None:
    note = "severe chest pain at rest"
    found, left_out = read(note, (0, 12, "A"), (7, 17, "B"), (13, 25, "C"), (0, 12, "A"))
    assert to_mentions(found[0].labels) == [(0, 2, "A"), (2, 5, "C")]
    assert left_out == {"overlapping_mentions": 1, "repeated_mentions": 1}
    found, left_out = read(note, (13, 17, "A"), (13, 17, "B"))
    assert to_mentions(found[0].labels) == [(2, 3, "A")]
    assert left_out == {"overlapping_mentions": 1}
    note, left_out = "old mouse gene", Counter[str]()
    mentions = [NoteMention(0, 14, "G"), NoteMention(4, 9, "S"), NoteMention(0, 9, "S")]
    [whole] = sentences(note, mentions, left_out, longest=None)
    assert sorted(whole.spans) == [(0, 2, "S"), (0, 3, "G"), (1, 2, "S")] and not left_out
    with pytest.raises(ValueError, match="overlaps another"):
        assert whole.labels


_NOTES = st.text(st.sampled_from("ab.\n\u00a0\u2019 "), max_size=40)


@for_all(
    _NOTES, st.lists(st.tuples(st.integers(0, 40), st.integers(1, 12), st.sampled_from("XY")), max_size=6)
)
def test_nothing_is_lost(note: str, places: list[tuple[int, int, str]]) -> None:
    """All characters are kept, and each mention is labelled with its own text or counted."""
    mentions = [(s, min(s + n, len(note)), of) for s, n, of in places if s < len(note)]
    found, left_out = read(note, *mentions)
    assert "".join(word for sentence in found for word in sentence.words) == "".join(note.split())
    labelled = [
        ("".join(sentence.words[start:end]), of)
        for sentence in found
        for start, end, of in to_mentions(sentence.labels)
    ]
    assert len(labelled) + left_out.total() == len(mentions)
    texts = Counter(("".join(note[start:end].split()), of) for start, end, of in mentions)
    assert not Counter(labelled) - texts

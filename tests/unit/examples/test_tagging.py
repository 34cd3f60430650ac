"""Word labels and mentions: lossless for BIO and BIOUL, one loss for IO, and agreement with seqeval."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities

from pubmill.examples.tagging import (
    Mention,
    PredictedLabels,
    Scheme,
    gold_subwords,
    subword_mentions,
    to_labels,
    to_mentions,
    word_label,
)

KINDS = st.sampled_from(["", "x", "y", "x-y"])
LOSSLESS: list[Scheme] = ["bio", "bioul"]
BIO = st.sampled_from(["O", "B", "I", "B-x", "I-x", "B-y", "I-y", "I-x-y"])
BIOUL = st.sampled_from([*"OBIUL", *(f"{prefix}-{kind}" for prefix in "BIUL" for kind in "xy")])
LABEL = st.sampled_from(["O", "B", "I", "B-x", "I-x", "B-y", "I-y"])


@st.composite
def sentences(draw: st.DrawFn) -> tuple[int, list[Mention]]:
    """A number of words and mentions within them, that often touch and never overlap."""
    mentions: list[Mention] = []
    at = 0
    for gap, length in draw(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4)), max_size=6)):
        mentions.append((at + gap, at + gap + length, draw(KINDS)))
        at += gap + length
    return at + draw(st.integers(0, 3)), mentions


def joined(mentions: list[Mention]) -> list[Mention]:
    """Mentions with those of one type that touch made one."""
    found: list[Mention] = []
    for start, end, kind in mentions:
        if found and found[-1][1:] == (start, kind):
            start = found.pop()[0]
        found.append((start, end, kind))
    return found


@pytest.mark.parametrize("scheme", LOSSLESS)
@given(sentence=sentences())
def test_mentions_survive_bio_and_bioul(scheme: Scheme, sentence: tuple[int, list[Mention]]) -> None:
    words, mentions = sentence
    labels = to_labels(mentions, words, scheme)
    assert len(labels) == words
    assert to_mentions(labels) == mentions
    assert to_labels(to_mentions(labels), words, scheme) == labels
    assert to_labels(mentions[::-1], words, scheme) == labels  # the order of mentions does not matter


@given(sentences())
def test_io_loses_only_bounds_between_neighbours(sentence: tuple[int, list[Mention]]) -> None:
    words, mentions = sentence
    labels = to_labels(mentions, words, "io")
    assert to_mentions(labels) == joined(mentions)
    assert to_labels(joined(mentions), words, "io") == labels
    lost = {end for (_, end, _) in mentions} - {end for (_, end, _) in to_mentions(labels)}
    touching = {end for (_, end, kind), other in pairwise(mentions) if (end, kind) == other[::2]}
    assert lost == touching


@settings(max_examples=200)
@given(st.lists(BIO, max_size=15) | st.lists(BIOUL, max_size=15))
def test_any_labels_mean_what_seqeval_takes_them_for_and_are_repaired_once(labels: list[str]) -> None:
    """IOBES is BIOUL by other letters: S for U, E for L."""
    renamed = [label.translate({ord("U"): "S", ord("L"): "E"}) for label in labels]
    expected = [(start, last + 1, "" if kind == "_" else kind) for kind, start, last in get_entities(renamed)]
    assert to_mentions(labels) == expected
    repaired = to_labels(to_mentions(labels), len(labels), "bio")
    assert to_mentions(repaired) == to_mentions(labels)
    assert [a == "O" for a in repaired] == [a == "O" for a in labels]
    assert to_labels(to_mentions(repaired), len(labels), "bio") == repaired


@pytest.mark.parametrize(("scheme", "labels"), [
    ("bio", "B-x B-x I-x I-x O B-y I-y B I O"), ("bioul", "U-x B-x I-x L-x O B-y L-y B L O"),
    ("io", "I-x I-x I-x I-x O I-y I-y I I O"),
])  # fmt: skip
def test_by_hand(scheme: Scheme, labels: str) -> None:
    mentions = [(0, 1, "x"), (1, 4, "x"), (5, 7, "y"), (7, 9, "")]
    assert to_labels(mentions, 10, scheme) == labels.split()


@pytest.mark.parametrize("mentions", [
    [(0, 2, "x"), (1, 3, "y")], [(0, 2, "x"), (0, 2, "x")], [(1, 1, "x")], [(2, 1, "x")], [(-1, 1, "x")],
    [(3, 5, "x")],
])  # fmt: skip
@pytest.mark.parametrize("scheme", [*LOSSLESS, "io"])
def test_overlaps_and_places_outside_are_errors(scheme: Scheme, mentions: list[Mention]) -> None:
    with pytest.raises(ValueError, match="overlaps another or leaves the 4 words"):
        to_labels(mentions, 4, scheme)


@pytest.mark.parametrize(("words", "expected"), [
    ("B-x/X/X I-x/X O", [(0, 5, "x")]),
    ("B-x/X B-x/X", [(0, 2, "x"), (2, 4, "x")]),
    ("B/X/X O/X", [(0, 3, "")]),
    ("O/X B-x", [(2, 3, "x")]),
    ("X/X B-x", [(2, 3, "x")]),  # X begins nothing
    ("B-x X/X I-x", [(0, 1, "x"), (3, 4, "x")]),  # at the first subword of a word it is O
    ("B-x/O/X I-x", [(0, 1, "x"), (3, 4, "x")]),  # O inside a word ends the mention
    ("B-x/I-x/B-x", [(0, 2, "x"), (2, 3, "x")]),
    ("B-x/I-y/X", [(0, 1, "x"), (1, 3, "y")]),
])  # fmt: skip
def test_mentions_of_subwords(words: str, expected: list[tuple[int, int, str]]) -> None:
    assert subword_mentions([word.split("/") for word in words.split()]) == expected


def test_a_word_without_a_subword_is_outside() -> None:
    assert subword_mentions([["B-x"], [], ["I-x"]]) == [(0, 1, "x"), (2, 3, "x")]
    assert subword_mentions([["B-x"], gold_subwords("I-x", 0), ["I-x"]]) == [(0, 3, "x")]
    assert [word_label(word) for word in (["B-x", "X"], ["X", "X"], [])] == ["B-x", "O", "O"]
    found = PredictedLabels(["B", "O"], [["B", "X"], ["O"]])
    assert found == ["B", "O"] and found.subwords == [["B", "X"], ["O"]]


@given(st.lists(st.tuples(LABEL, st.integers(1, 4)), max_size=12))
def test_mentions_are_those_of_words_where_only_x_follows(words: list[tuple[str, int]]) -> None:
    begins = [sum(count for _, count in words[:place]) for place in range(len(words) + 1)]
    expected = [
        (begins[first], begins[last], kind) for first, last, kind in to_mentions([word for word, _ in words])
    ]
    assert subword_mentions([gold_subwords(*word) for word in words]) == expected

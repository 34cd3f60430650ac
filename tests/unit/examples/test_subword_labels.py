"""Labels of subwords: X continues, and mentions of subwords are those of words where only X follows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.examples.subword_labels import PredictedLabels, gold_subwords, subword_mentions, word_label
from pubmill.examples.tagging import to_mentions

LABEL = st.sampled_from(["O", "B", "I", "B-x", "I-x", "B-y", "I-y"])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("B-x/X/X I-x/X O", [(0, 5, "x")]),
        ("B-x/X B-x/X", [(0, 2, "x"), (2, 4, "x")]),
        ("B/X/X O/X", [(0, 3, "")]),
        ("O/X B-x", [(2, 3, "x")]),
        ("X/X B-x", [(2, 3, "x")]),  # X begins nothing
        ("B-x X/X I-x", [(0, 1, "x"), (3, 4, "x")]),  # at the first subword of a word it is O
        ("B-x/O/X I-x", [(0, 1, "x"), (3, 4, "x")]),  # O inside a word ends the mention
        ("B-x/I-x/B-x", [(0, 2, "x"), (2, 3, "x")]),
        ("B-x/I-y/X", [(0, 1, "x"), (1, 3, "y")]),
    ],
)
def test_mentions_of_subwords(words: str, expected: list[tuple[int, int, str]]) -> None:
    assert subword_mentions([word.split("/") for word in words.split()]) == expected


def test_a_word_without_a_subword_is_outside() -> None:
    assert subword_mentions([["B-x"], [], ["I-x"]]) == [(0, 1, "x"), (2, 3, "x")]
    assert subword_mentions([["B-x"], gold_subwords("I-x", 0), ["I-x"]]) == [(0, 3, "x")]
    assert [word_label(word) for word in (["B-x", "X"], ["X", "X"], [])] == ["B-x", "O", "O"]


@given(st.lists(st.tuples(LABEL, st.integers(1, 4)), max_size=12))
def test_mentions_are_those_of_words_where_only_x_follows(words: list[tuple[str, int]]) -> None:
    begins = [sum(count for _, count in words[:place]) for place in range(len(words) + 1)]
    expected = [
        (begins[first], begins[last], kind) for first, last, kind in to_mentions([word for word, _ in words])
    ]
    assert subword_mentions([gold_subwords(*word) for word in words]) == expected


def test_predicted_labels_are_those_of_words() -> None:
    found = PredictedLabels(["B", "O"], [["B", "X"], ["O"]])
    assert found == ["B", "O"] and found.subwords == [["B", "X"], ["O"]]

"""Collapsed runs: the same prediction for every example, although the gold answers differ."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.examples.kinds import MentionsExample, WordSpan
from pubmill.examples.tagging import to_labels, to_mentions
from pubmill.metrics.collapse import is_collapsed
from tests.unit.metrics.toy_predictions import documents, labelled, pairs, questions, tokens

EXAMPLES: dict[str, Callable[[list[Any]], list[Any]]] = {
    "tokens": lambda gold: tokens(*gold), "label": labelled, "labels": lambda gold: documents(*gold),
    "score": lambda gold: pairs(*gold),
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "gold", "predicted", "expected"),
    [
        ("label", ["yes", "no", "yes"], ["yes"] * 3, True),
        ("label", ["yes"] * 3, ["no"] * 3, True),
        ("label", ["yes"] * 3, ["yes"] * 3, False),
        ("label", ["yes", "no"], ["yes", "no"], False),
        ("label", ["yes"], ["no"], False),
        ("tokens", [["O", "O"], ["O"]], [["O", "O"], ["O"]], False),
        ("tokens", [["O", "B-Thing"], ["O"]], [["O", "O"], ["O"]], True),
        ("tokens", [["B-Thing", "O"], ["O"]], [["B-Thing", "O"], ["O"]], False),
        ("labels", [["ba"], ["ba"]], [["ba"], ["ba"]], False),
        ("labels", [["ba"], []], [[], []], True),
        ("labels", [["ba"], ["ba", "co"]], [["ba"], ["ba", "co"]], False),
        ("score", [1.0, 3.0], [2.0, 2.0], True),
        ("score", [0.0, 2.0, 4.0], [2.001, 2.0, 1.999], True),
        ("score", [0.0, 2.0, 4.0], [2.1, 2.0, 1.9], False),
        ("score", [2.0, 2.0], [2.0, 2.0], False),
        ("score", [2.0, 2.0], [3.0, 3.0], True),
    ],
)
def test_equal_predictions_of_different_gold_are_a_collapse(
    kind: str, gold: list[Any], predicted: list[Any], expected: bool
) -> None:
    assert is_collapsed(EXAMPLES[kind](gold), predicted) is expected


def test_answers_are_compared_by_the_best_one() -> None:
    asked, none = questions(["pain"], ["flu"]), questions([], [])
    empty, other = [("", 0.7)], [("", 0.9), ("pain", 0.1)]
    assert is_collapsed(asked, [empty, other]) and not is_collapsed(none, [empty, other])
    assert is_collapsed(none, [[("of", 1.0)]] * 2) and not is_collapsed(asked, [empty, [("flu", 0.5)]])


@given(
    st.sampled_from(["O", "B", "I", "B-X", "I-X", "L-X", "U-X"]),
    st.lists(st.integers(1, 5), min_size=2, max_size=6),
)
def test_one_label_of_any_scheme_at_all_words_is_a_collapse(label: str, lengths: list[int]) -> None:
    predicted = [to_labels(to_mentions([label] * words), words, "bio") for words in lengths]
    gold = [["B-Y", *["O"] * (words - 1)] for words in lengths]
    gold[0], gold[1] = ["O"] * lengths[0], ["B-Z"] * lengths[1]
    assert is_collapsed(tokens(*gold), predicted)
    other = [[*predicted[0][:-1], "B-W"], *predicted[1:]]
    assert not is_collapsed(tokens(*gold), other)


def test_the_same_mentions_everywhere_are_a_collapse_unless_the_gold_has_them_too() -> None:
    span = WordSpan(first=0, after=1, type="X")
    some = MentionsExample(id="1", document=None, words=["a", "b"], mentions=[span])
    none = replace(some, mentions=[])
    assert is_collapsed([some, none], [[], []])
    assert is_collapsed([some, none], [[(0, 1, "X")], [(0, 1, "X")]])
    assert not is_collapsed([some, some], [[(0, 1, "X")], [(0, 1, "X")]])
    assert not is_collapsed([some, none], [[(0, 1, "X")], [(0, 1, "Y")]])

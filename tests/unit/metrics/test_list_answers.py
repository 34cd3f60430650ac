"""List questions as BioASQ's evaluation counts them, and which answers are submitted."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.examples.kinds import Answer, SpanExample
from pubmill.metrics.answers import score_answers
from pubmill.metrics.list_answers import list_scores, submitted_list

ITEMS = [["p53", "TP53"], ["Wnt"], ["IL-2"]]
NAME = st.sampled_from("abcde")


def official(items: Sequence[Sequence[str]], submitted: Sequence[str]) -> tuple[float, float, float]:
    """The loops of `calculatePRFforListQuestions`, with answers of one synonym each."""
    golden, response = [list(names) for names in items], [[answer] for answer in submitted]

    def contains(lists: list[list[str]], names: Sequence[str]) -> bool:
        for number, own in enumerate(lists):
            if any(one == other for one in own for other in names):
                lists.pop(number)
                return True
        return False

    if not response:
        return 0.0, 0.0, 0.0
    right = sum([contains(golden, names) for names in list(response)])
    wrong = len(response) - right
    missed = sum([not contains(response, names) for names in list(golden)])
    precision = right / (right + wrong)
    recall = right / (right + missed) if right + missed else 0.0
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0


@given(
    st.lists(st.lists(NAME, min_size=1, max_size=3, unique=True), min_size=1, max_size=4),
    st.lists(NAME, max_size=5, unique=True),
)
def test_scores_are_those_of_the_official_loops(items: list[list[str]], submitted: list[str]) -> None:
    assert list_scores(items, submitted) == pytest.approx(official(items, submitted))


def test_a_synonym_finds_its_item_once() -> None:
    assert list_scores(ITEMS, ["tp53", "wnt"]) == pytest.approx((1.0, 2 / 3, 0.8))
    assert list_scores(ITEMS, ["p53", "tp53"]) == pytest.approx((0.5, 1 / 3, 0.4))
    assert list_scores(ITEMS, []) == (0.0, 0.0, 0.0)


def test_answers_above_the_threshold_over_all_contexts_are_submitted() -> None:
    answers = [("Wnt", 0.3), ("wnt", 0.2), ("p53", 0.43), ("IL-2", 0.42), ("", 0.9)]
    assert submitted_list(answers) == ["wnt", "p53"]
    assert submitted_list([("a", 0.1), ("B", 0.2)]) == ["b"], "or else the best one"
    assert submitted_list([("", 1.0)]) == []


def test_a_question_counts_once_over_its_contexts() -> None:
    contexts = [
        SpanExample(
            id=f"q_{n}", document=None, question="?", context=f"{text} x",
            answers=[Answer(text=text, start=0)], group="q", golds=["p53", "TP53", "Wnt"], items=ITEMS[:2],
        )
        for n, text in enumerate(("p53", "Wnt"))
    ]  # fmt: skip
    predicted = [[("p53", 0.9), ("x", 0.1)], [("Wnt", 0.5), ("x", 0.4)]]
    found = score_answers(contexts, predicted).metrics
    assert found["list_recall"] == 1.0 and found["list_precision"] == pytest.approx(2 / 3)
    assert found["list_f1"] == pytest.approx(0.8)

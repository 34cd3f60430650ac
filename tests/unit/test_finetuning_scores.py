"""The trainer's own dev score, against seqeval and by hand."""

import warnings

from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import f1_score

from pubmill.finetuning.scores import entities, entity_f1

LABELS = st.sampled_from(["O", "B", "I", "B-Gene", "I-Gene", "B-Cell", "I-Cell"])
PAIRS = st.lists(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=8), min_size=1, max_size=5)


def test_entities_by_hand() -> None:
    assert entities(["B", "I", "O", "B", "B", "I"]) == [(0, 2, ""), (3, 4, ""), (4, 6, "")]


def test_an_i_that_continues_nothing_begins_an_entity() -> None:
    assert entities(["I", "I", "O", "I"]) == [(0, 2, ""), (3, 4, "")]
    assert entities(["B-Gene", "I-Cell"]) == [(0, 1, "Gene"), (1, 2, "Cell")]


def test_a_partly_right_entity_is_wrong() -> None:
    assert entity_f1([["B", "I", "O"]], [["B", "O", "O"]]) == 0.0
    assert entity_f1([["B", "I", "O", "B"]], [["B", "I", "O", "O"]]) == 2 / 3


def test_nothing_to_find_and_nothing_found_is_zero() -> None:
    assert entity_f1([["O"]], [["O"]]) == 0.0


@given(PAIRS)
def test_equals_seqeval(pairs: list[list[tuple[str, str]]]) -> None:
    gold = [[label for label, _ in sentence] for sentence in pairs]
    predicted = [[label for _, label in sentence] for sentence in pairs]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = f1_score(gold, predicted, zero_division=0)
    assert abs(entity_f1(gold, predicted) - expected) < 1e-12

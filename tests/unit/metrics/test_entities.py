"""Entity F1 against an implementation written from the definition, against seqeval's own, and by hand."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import f1_score, precision_score, recall_score

from pubmill.errors import PubmillError
from pubmill.metrics.entities import score_entities, score_relaxed

Sentences = list[list[str]]
LABEL = st.sampled_from(["O", "B", "I", "B-x", "I-x", "B-y", "I-y"])


@st.composite
def gold_and_predicted(draw: st.DrawFn) -> tuple[Sentences, Sentences]:
    """Any labels, legal or not; predictions are near the gold ones, so that entities often match."""
    gold = draw(st.lists(st.lists(LABEL, min_size=1, max_size=12), min_size=1, max_size=6))
    keep = st.sampled_from([True, True, True, False])
    predicted = [[label if draw(keep) else draw(LABEL) for label in labels] for labels in gold]
    return gold, predicted


def entities(sentences: Sentences) -> set[tuple[int, int, int, str]]:
    """(sentence, first, last, type), by walking from each beginning to the end of its entity."""
    found = set()
    for number, labels in enumerate(sentences):
        kinds = [label[2:] for label in labels]
        for first, label in enumerate(labels):
            continues = first > 0 and labels[first - 1] != "O" and kinds[first - 1] == kinds[first]
            if label == "O" or (label[0] == "I" and continues):
                continue
            last = first
            while last + 1 < len(labels) and labels[last + 1][0] == "I" and kinds[last + 1] == kinds[first]:
                last += 1
            found.add((number, first, last, kinds[first]))
    return found


@given(gold_and_predicted())
def test_equals_an_independent_implementation(pair: tuple[Sentences, Sentences]) -> None:
    gold, predicted = pair
    true, guessed = entities(gold), entities(predicted)
    metrics, counts, _ = score_entities(gold, predicted)
    assert counts == {
        "gold": len(true),
        "predicted": len(guessed),
        "correct": len(true & guessed),
        "examples": len(gold),
    }
    precision = len(true & guessed) / len(guessed) if guessed else 0.0
    recall = len(true & guessed) / len(true) if true else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    assert metrics == pytest.approx({"entity_f1": f1, "entity_precision": precision, "entity_recall": recall})


@given(gold_and_predicted())
def test_equals_seqeval(pair: tuple[Sentences, Sentences]) -> None:
    metrics, *_ = score_entities(*pair)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # seqeval warns where a ratio has no denominator
        assert metrics == pytest.approx(
            {
                "entity_f1": f1_score(*pair),
                "entity_precision": precision_score(*pair),
                "entity_recall": recall_score(*pair),
            }
        )


@pytest.mark.parametrize(
    ("gold", "predicted", "correct"),
    [
        ("O B I", "O B I", 1),
        ("O B I", "O I I", 1),  # an illegal start counts as a start
        ("O B I", "O B O", 0),  # a boundary off by one word is wrong
        ("B B", "B I", 0),  # two entities are not one
        ("B I O", "B I I", 0),
        ("B-x I-x", "B-x I-y", 0),  # a change of type begins another entity
        ("B-x I-x", "B-y I-y", 0),
        ("B-x I-y", "B-x B-y", 2),
    ],
)
def test_by_hand(gold: str, predicted: str, correct: int) -> None:
    _, counts, _ = score_entities([gold.split()], [predicted.split()])
    assert counts["correct"] == correct


def test_micro_average_over_sentences() -> None:
    gold = [["B", "I", "O"], ["B", "O", "B"]]
    predicted = [["B", "I", "O"], ["O", "B", "B"]]
    metrics, counts, _ = score_entities(gold, predicted)
    assert counts == {"gold": 3, "predicted": 3, "correct": 2, "examples": 2}
    assert metrics["entity_f1"] == pytest.approx(2 / 3)


def test_an_entity_ends_with_its_sentence() -> None:
    _, counts, _ = score_entities([["O", "B"], ["I", "O"]], [["O", "B"], ["O", "O"]])
    assert counts == {"gold": 2, "predicted": 1, "correct": 1, "examples": 2}


def test_nothing_to_find_and_nothing_found_is_zero() -> None:
    metrics, *_ = score_entities([["O"]], [["O"]])
    assert metrics == {"entity_f1": 0.0, "entity_precision": 0.0, "entity_recall": 0.0}


def test_other_lengths_are_refused() -> None:
    for predicted in ([["O"]], [["O", "O"], ["O"]]):
        for score in (score_entities, score_relaxed):
            with pytest.raises(PubmillError, match="number of sentences or words"):
                score([["O"], ["O"]], predicted)


@given(gold_and_predicted())
def test_relaxed_equals_an_independent_implementation(pair: tuple[Sentences, Sentences]) -> None:
    true, guessed = entities(pair[0]), entities(pair[1])

    def met(one: set[tuple[int, int, int, str]], other: set[tuple[int, int, int, str]]) -> int:
        """How many of one overlap any of the other, as intervals."""
        return sum(
            any((s, kind) == (s2, kind2) and a <= b2 and a2 <= b for s2, a2, b2, kind2 in other)
            for s, a, b, kind in one
        )

    precision = met(guessed, true) / len(guessed) if guessed else 0.0
    recall = met(true, guessed) / len(true) if true else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    metrics, counts, _ = score_relaxed(*pair)
    assert metrics == pytest.approx(
        {"relaxed_f1": f1, "relaxed_precision": precision, "relaxed_recall": recall}
    )
    assert counts == {"relaxed_correct": met(guessed, true), "relaxed_found": met(true, guessed)}
    exact, *_ = score_entities(*pair)
    assert metrics["relaxed_f1"] >= exact["entity_f1"] - 1e-12


@pytest.mark.parametrize(
    ("gold", "predicted", "correct", "found"),
    [
        ("O B I", "O B O", 1, 1),  # a boundary off by one word is right
        ("B I I I", "O B O B", 2, 1),  # both pieces are right, and find one entity
        ("B I O B", "B I I I", 1, 2),  # one prediction finds both
        ("B O", "O B", 0, 0),  # neighbours don't overlap
        ("B-x I-x", "B-y I-y", 0, 0),  # another type is wrong
        ("B-x I-x B-y", "B-x I-x I-x", 1, 1),
    ],
)
def test_relaxed_by_hand(gold: str, predicted: str, correct: int, found: int) -> None:
    _, counts, _ = score_relaxed([gold.split()], [predicted.split()])
    assert counts == {"relaxed_correct": correct, "relaxed_found": found}


def test_relaxed_does_not_reach_over_the_end_of_a_sentence() -> None:
    _, counts, _ = score_relaxed([["O", "B"], ["O", "O"]], [["O", "O"], ["B", "O"]])
    assert counts == {"relaxed_correct": 0, "relaxed_found": 0}


def test_relaxed_f1_is_of_unequal_precision_and_recall() -> None:
    metrics, *_ = score_relaxed([["B", "I", "I", "I", "O", "B"]], [["B", "O", "B", "O", "O", "O"]])
    assert metrics == pytest.approx({"relaxed_f1": 2 / 3, "relaxed_precision": 1.0, "relaxed_recall": 0.5})

"""Entity F1 against an implementation written from the definition, against seqeval's own, and by hand."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import f1_score, precision_score, recall_score

from pubmill.errors import PubmillError
from pubmill.metrics import METRICS
from pubmill.metrics.entities import score_entities

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
    metrics, counts = score_entities(gold, predicted)
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
    metrics, _ = score_entities(*pair)
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
    _, counts = score_entities([gold.split()], [predicted.split()])
    assert counts["correct"] == correct


def test_micro_average_over_sentences() -> None:
    gold = [["B", "I", "O"], ["B", "O", "B"]]
    predicted = [["B", "I", "O"], ["O", "B", "B"]]
    metrics, counts = score_entities(gold, predicted)
    assert counts == {"gold": 3, "predicted": 3, "correct": 2, "examples": 2}
    assert metrics["entity_f1"] == pytest.approx(2 / 3)


def test_an_entity_ends_with_its_sentence() -> None:
    _, counts = score_entities([["O", "B"], ["I", "O"]], [["O", "B"], ["O", "O"]])
    assert counts == {"gold": 2, "predicted": 1, "correct": 1, "examples": 2}


def test_nothing_to_find_and_nothing_found_is_zero() -> None:
    metrics, _ = score_entities([["O"]], [["O"]])
    assert metrics == {"entity_f1": 0.0, "entity_precision": 0.0, "entity_recall": 0.0}


def test_other_lengths_are_refused() -> None:
    for predicted in ([["O"]], [["O", "O"], ["O"]]):
        with pytest.raises(PubmillError, match="number of sentences or words"):
            score_entities([["O"], ["O"]], predicted)


def test_registry_gives_the_metric_under_its_name() -> None:
    for name, metric in METRICS.items():
        assert name in metric([["B"]], [["B"]])[0]

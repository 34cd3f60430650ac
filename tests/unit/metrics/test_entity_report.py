"""Entity scores and the report by type of a record: as seqeval's, and as the contributions of documents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.errors import PubmillError
from pubmill.examples.kinds import TokensExample
from pubmill.examples.tagging import ExtendedLabels
from pubmill.metrics import SCORERS
from pubmill.metrics.entity_report import ByType, with_entity_report

LABELS = st.sampled_from(["O", "B", "I", "B-x", "I-x", "B-y-z", "I-y-z"])
SENTENCE = st.lists(st.tuples(LABELS, LABELS), max_size=9)


def scores(gold: list[list[str]], predicted: list[list[str]]) -> tuple[dict[str, float], ByType]:
    """Every two sentences are a document."""
    examples = [
        TokensExample(id=f"s{n}", document=f"d{n // 2}", words=["w"] * len(labels), labels=labels)
        for n, labels in enumerate(gold)
    ]
    score = SCORERS["tokens"](examples, predicted, None)
    with_report, by_type = with_entity_report("ncbi-disease", examples, predicted, score)
    assert with_report.metrics == pytest.approx(score.metrics)
    return with_report.metrics, by_type


@given(st.lists(SENTENCE, min_size=1, max_size=5))
def test_no_score_differs_from_the_contributions(sentences: list[list[tuple[str, str]]]) -> None:
    """Whatever the labels: without entities, with types or not, with an I that continues nothing."""
    gold, predicted = ([[pair[side] for pair in one] for one in sentences] for side in (0, 1))
    scores(gold, predicted)


def test_each_type_has_its_scores() -> None:
    metrics, by_type = scores([["B-x", "I-x", "B-y", "O"]], [["I-x", "I-x", "B-y", "B-y"]])
    assert metrics["entity_f1"] == pytest.approx(0.8)
    assert by_type == {
        "x": {"precision": 1, "recall": 1, "f1-score": 1, "support": 1},
        "y": {"precision": 0.5, "recall": 1, "f1-score": pytest.approx(2 / 3), "support": 1},
    }


def test_mentions_without_a_place_are_false_positives() -> None:
    _, by_type = scores([["B", "O"]], [ExtendedLabels(["B", "O"], [("", 2)])])
    assert by_type["_"]["precision"] == 0.5


def test_contributions_that_are_not_the_entities_of_seqeval_are_an_error() -> None:
    """It reads a type without the hyphens around it."""
    with pytest.raises(
        PubmillError,
        match="ncbi-disease, document d1: entities gold 1, predicted 1, correct 0 contribute to the score, "
        "but seqeval finds entities gold 1, predicted 1, correct 1",
    ):
        scores([["B-x"], ["B-x"], ["B-x-"]], [["B-x"], ["B-x"], ["B-x"]])

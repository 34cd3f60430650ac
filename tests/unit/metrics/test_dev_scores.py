"""Dev scores: what chooses weights, by hand and against the metrics of records."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.errors import PubmillError
from pubmill.metrics import METRICS, SCORERS, dev_score
from tests.unit.metrics.test_contributions import made_up
from tests.unit.metrics.toy_predictions import documents, labelled, pairs, questions, tokens

CHOOSING = [(name, kind) for name, one in METRICS.items() if one.chooses for kind in one.kinds]


def ranked(*texts: str) -> list[tuple[str, float]]:
    return [(text, 1 / number) for number, text in enumerate(texts, 1)]


@pytest.mark.parametrize(("metric", "kind"), CHOOSING)
@given(seed=st.integers(0, 10**6))
def test_a_dev_score_is_the_metric_of_the_record(metric: str, kind: str, seed: int) -> None:
    gold, predicted = made_up(kind, seed, 8)
    recorded = SCORERS[kind](gold, predicted, "0").metrics
    if metric in recorded:
        assert dev_score(metric, kind, gold, predicted, "0") == recorded[metric]


def test_nothing_found_where_there_is_nothing_is_zero() -> None:
    assert dev_score("entity_f1", "tokens", tokens("O"), [["O"]], None) == 0.0
    assert dev_score("word_macro_f1", "tokens", tokens("O"), [["B"]], None) == 0.0
    assert dev_score("micro_f1", "sequence", labelled(["0"]), ["0"], "0") == 0.0
    for metric in ("micro_f1", "macro_f1", "example_f1"):
        assert dev_score(metric, "multilabel", documents([]), [[]], None) == 0.0


@pytest.mark.parametrize("predicted", [[3.0, 3.0], [0.0, 0.0]])
def test_scores_that_are_all_equal_are_zero(predicted: list[float]) -> None:
    assert dev_score("pearson", "regression", pairs(1.0, 2.0), predicted, None) == 0.0
    assert dev_score("pearson", "regression", pairs(1.0), predicted[:1], None) == 0.0


def test_the_positive_f1_is_defined_where_dev_has_positives_alone() -> None:
    gold, predicted = labelled(["1", "1"]), ["1", "1"]
    assert "positive_f1" not in SCORERS["sequence"](gold, predicted, "0").metrics
    assert dev_score("positive_f1", "sequence", gold, predicted, "0") == 1.0


def test_documents_without_a_label_leave_the_others_their_dev_score() -> None:
    """The record has no such metric then; weights are chosen by the documents that have labels."""
    gold, predicted = documents(["a"], [], ["a", "b"]), [["a"], ["b"], ["a"]]
    assert "example_f1" not in SCORERS["multilabel"](gold, predicted, None).metrics
    found = dev_score("example_f1", "multilabel", gold, predicted, None)
    assert math.isclose(found, 2 * 1.0 * 0.75 / 1.75)


def test_questions_without_a_gold_answer_leave_the_others_their_dev_score() -> None:
    gold = questions([], ["p53", "tp53"], ["Wnt"])
    predicted = [ranked("p53"), ranked("Wnt", "TP53"), ranked("a", "b", "c", "d", "e", "wnt")]
    assert "mrr" not in SCORERS["span"](gold, predicted, None).metrics
    assert math.isclose(dev_score("mrr", "span", gold, predicted, None), (0 + 1 / 2 + 0) / 3)


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(PubmillError):
        dev_score("entity_f1", "tokens", tokens("O"), [["O", "O"]], None)
    for metric, kind, gold in (
        ("accuracy", "sequence", labelled(["a"])),
        ("micro_f1", "multilabel", documents(["a"])),
        ("mrr", "span", questions(["a"])),
    ):
        with pytest.raises(ValueError):
            dev_score(metric, kind, gold, [], None)


def test_a_metric_without_a_dev_score_chooses_nothing() -> None:
    with pytest.raises(AssertionError, match="exact_match has no dev score"):
        dev_score("exact_match", "span", questions(["a"]), [ranked("a")], None)

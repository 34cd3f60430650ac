"""The trainer's own dev scores, against seqeval, scikit-learn and pubmill.metrics, and by hand."""

import warnings
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import f1_score

from pubmill.examples import Answer, SpanExample
from pubmill.finetuning import scores
from pubmill.finetuning.scores import entities, entity_f1
from pubmill.metrics.answers import score_answers
from pubmill.metrics.classes import score_label_sets, score_labels
from pubmill.metrics.words import score_words

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


@given(PAIRS)
def test_word_macro_f1_equals_the_metric(pairs: list[list[tuple[str, str]]]) -> None:
    gold, predicted = ([[pair[side] for pair in sentence] for sentence in pairs] for side in (0, 1))
    metrics, *_ = score_words(gold, predicted)
    assert scores.word_macro_f1(gold, predicted) == pytest.approx(metrics.get("word_macro_f1", 0.0))


@given(
    st.lists(st.tuples(st.sampled_from("012"), st.sampled_from("012")), min_size=1, max_size=20),
    st.sampled_from([None, "0"]),
)
def test_scores_of_labels_equal_the_metrics(pairs: list[tuple[str, str]], negative: str | None) -> None:
    gold, predicted = ([pair[side] for pair in pairs] for side in (0, 1))
    metrics, *_ = score_labels(gold, predicted, negative)
    assert scores.accuracy(gold, predicted) == pytest.approx(metrics["accuracy"])
    assert scores.macro_f1(gold, predicted) == pytest.approx(metrics["macro_f1"])
    assert scores.micro_f1(gold, predicted, negative) == pytest.approx(metrics.get("micro_f1", 0.0))


SETS = st.lists(st.sampled_from("xyz"), unique=True)


@given(st.lists(st.tuples(SETS, SETS), min_size=1, max_size=10))
def test_scores_of_label_sets_equal_the_metrics(pairs: list[tuple[list[str], list[str]]]) -> None:
    gold, predicted = ([pair[side] for pair in pairs] for side in (0, 1))
    metrics, *_ = score_label_sets(gold, predicted)
    assert scores.multilabel_micro_f1(gold, predicted) == pytest.approx(metrics.get("micro_f1", 0.0))
    assert scores.multilabel_macro_f1(gold, predicted) == pytest.approx(metrics.get("macro_f1", 0.0))
    kept = [number for number, labels in enumerate(gold) if labels]
    if kept:
        labelled, *_ = score_label_sets([gold[n] for n in kept], [predicted[n] for n in kept])
        assert scores.example_f1(gold, predicted) == pytest.approx(labelled["example_f1"])
    else:
        assert scores.example_f1(gold, predicted) == 0.0


ANSWER = st.lists(st.sampled_from(["the", "p53", "Wnt.", "a", "-"]), min_size=1, max_size=3).map(" ".join)
QUESTION = st.tuples(
    st.lists(ANSWER, min_size=1, max_size=3), st.lists(ANSWER, min_size=1, max_size=7, unique_by=str.lower)
)


@given(st.lists(QUESTION, min_size=1, max_size=5))
def test_scores_of_answers_equal_the_metrics(questions: list[tuple[list[str], list[str]]]) -> None:
    golds, ranked = [golds for golds, _ in questions], [given_ for _, given_ in questions]
    examples = [
        SpanExample(id=str(n), document=None, question="?", context="", answers=[], golds=golds)
        for n, (golds, _) in enumerate(questions)
    ]
    predicted = [[(text, 1 / (n + 1)) for n, text in enumerate(given_)] for given_ in ranked]
    metrics, *_ = score_answers(examples, predicted)
    assert scores.squad_f1(golds, [given_[0] for given_ in ranked]) == pytest.approx(metrics["f1"])
    assert scores.mrr(golds, ranked) == pytest.approx(metrics["mrr"])


def test_questions_without_an_answer() -> None:
    for none in ([], [""]):
        assert scores.squad_f1([none, none], ["", "p53"]) == 0.5
    placed = SpanExample(
        id="1", document=None, question="?", context="p53", answers=[Answer(text="p53", start=0)]
    )
    metrics, *_ = score_answers([placed], [[("", 1.0)]])
    assert metrics["f1"] == scores.squad_f1([["p53"]], [""]) == 0.0


def test_mrr_by_hand() -> None:
    ranked = [["Wnt", "", "TP53"], ["a", "b", "c", "d", "e", "p53"]]
    assert scores.mrr([["p53", "tp53"]] * 2, ranked) == pytest.approx((1 / 2 + 0) / 2)


def test_what_is_not_defined_is_zero() -> None:
    assert scores.micro_f1(["0"], ["0"], "0") == 0.0
    assert scores.word_macro_f1([["O"]], [["B"]]) == 0.0
    assert scores.multilabel_micro_f1([[]], [[]]) == scores.multilabel_macro_f1([[]], [[]]) == 0.0
    assert scores.pearson([1.0, 2.0], [3.0, 3.0]) == scores.pearson([1.0], [1.0]) == 0.0


def test_lists_of_unequal_length_are_refused() -> None:
    wrong: list[Callable[[], float]] = [
        lambda: scores.accuracy(["a"], []),
        lambda: scores.macro_f1(["a"], []),
        lambda: scores.multilabel_micro_f1([["a"]], []),
        lambda: scores.pearson([1.0, 2.0], [1.0]),
        lambda: scores.mrr([["a"]], []),
    ]
    for score in wrong:
        with pytest.raises(ValueError):
            score()

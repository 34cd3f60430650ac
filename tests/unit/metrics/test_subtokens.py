"""Scores of entities over subwords: equal to those of words where one piece is a word, or only X follows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pubmill.examples.tagging import PredictedLabels, gold_subwords, to_labels, to_mentions, word_label
from pubmill.metrics.contributions import Scored
from pubmill.metrics.entities import score_entities
from pubmill.metrics.subtokens import score_subtokens

LABEL = st.sampled_from(["O", "B-x", "I-x", "B-y", "I-y"])
Sentences = list[list[str]]


def predicted(sentence: Sentences) -> PredictedLabels:
    """Predictions as the trainer writes them: those of words are sound BIO."""
    words = [word_label(subwords) for subwords in sentence]
    return PredictedLabels(to_labels(to_mentions(words), len(words), "bio"), sentence)


def shared(score: Scored, prefix: str) -> dict[str, float]:
    ratios = {name: score.metrics[f"{prefix}_{name}"] for name in ("f1", "precision", "recall")}
    counts = "" if prefix == "entity" else f"{prefix}_"
    return ratios | {name: score.counts[counts + name] for name in ("gold", "predicted", "correct")}


@st.composite
def labelled(
    draw: st.DrawFn, longest: int, later: st.SearchStrategy[str]
) -> tuple[Sentences, list[PredictedLabels]]:
    """Gold labels of words, and predictions for their subwords."""
    gold = draw(st.lists(st.lists(LABEL, min_size=1, max_size=8), min_size=1, max_size=5))
    first = st.one_of(LABEL, st.just("X"))
    return gold, [
        predicted(
            [
                [draw(st.one_of(st.just(label), first)), *draw(st.lists(later, max_size=longest - 1))]
                for label in labels
            ]
        )
        for labels in gold
    ]


@given(labelled(1, st.just("X")))
def test_one_subword_a_word_gives_the_scores_of_words(case: tuple[Sentences, list[PredictedLabels]]) -> None:
    assert shared(score_subtokens(*case), "subtoken") == shared(score_entities(*case), "entity")


@given(labelled(4, st.just("X")))
def test_later_subwords_of_x_give_the_scores_of_words(case: tuple[Sentences, list[PredictedLabels]]) -> None:
    assert shared(score_subtokens(*case), "subtoken") == shared(score_entities(*case), "entity")


@given(labelled(4, st.one_of(st.just("X"), LABEL)))
def test_the_gold_entities_of_subwords_are_those_of_words(
    case: tuple[Sentences, list[PredictedLabels]],
) -> None:
    subwords, words = shared(score_subtokens(*case), "subtoken"), shared(score_entities(*case), "entity")
    assert subwords["correct"] <= subwords["gold"] == words["gold"]


def test_a_later_subword_may_separate_two_words() -> None:
    case = [["O", "B"]], [predicted([["I", "O"], ["I"]])]
    assert shared(score_subtokens(*case), "subtoken")["correct"] == 1
    assert shared(score_entities(*case), "entity")["correct"] == 0


def test_the_figure_of_the_paper() -> None:
    """shin2020 Figure 1: `undifferentiated Fibrillation` in BERT's pieces."""
    gold = ["B", "I"]
    right = [gold_subwords("B", 5), gold_subwords("I", 4)]
    assert right == [["B", "X", "X", "X", "X"], ["I", "X", "X", "X"]]
    assert shared(score_subtokens([gold], [predicted(right)]), "subtoken")["correct"] == 1
    broken = [["B", "X", "O", "X", "X"], ["I", "X", "X", "X"]]
    case = [gold], [predicted(broken)]
    assert shared(score_subtokens(*case), "subtoken") == {
        "f1": 0.0, "precision": 0.0, "recall": 0.0, "gold": 1, "predicted": 2, "correct": 0,
    }  # fmt: skip
    assert score_entities(*case).metrics["entity_f1"] == 1.0


def test_labels_of_words_alone_define_no_score() -> None:
    found = score_subtokens([["B", "O"]], [["B", "O"]])
    assert found.metrics == {} and found.counts == {}
    both = score_subtokens([["B"], ["B"]], [["B"], predicted([["O"]])])
    assert both.metrics["subtoken_f1"] == pytest.approx(0.0) and both.counts["subtoken_gold"] == 1

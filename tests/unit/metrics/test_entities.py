"""Entities, those of subwords, and words: against definitions, seqeval and scikit-learn, and by hand."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics

from pubmill.errors import PubmillError
from pubmill.examples import tagging
from pubmill.examples.kinds import TokensExample
from pubmill.metrics import SCORERS
from pubmill.metrics.contributions import Scored
from pubmill.metrics.entities import score_entities, score_tokens
from pubmill.metrics.entity_report import ByType, with_entity_report
from tests import scorers
from tests.unit.metrics.toy_predictions import tokens

Sentences = list[list[str]]
LABEL = st.sampled_from(["O", "B", "I", "B-x", "I-x", "B-y", "I-y", "B-y-x", "I-y-x"])
OF_SUBWORDS = st.sampled_from(["O", "B-x", "I-x", "B-y", "I-y"])
OF_WORDS = st.sampled_from(["O", "B-PAR", "I-PAR", "B-INT", "I-INT", "I-OUT"])
LABELS = st.sampled_from(["O", "B", "I", "B-x", "I-x", "B-y-z", "I-y-z"])
SENTENCE = st.lists(st.tuples(LABELS, LABELS), max_size=9)


def score(
    gold: Sentences, predicted: Sequence[list[str]], layers: Sequence[dict[str, list[int]]] | None = None
) -> Scored:
    """Score labels of words; `layers`: those of each sentence."""
    marks = layers or [{} for _ in gold]
    examples = [replace(one, layers=own) for one, own in zip(tokens(*gold), marks, strict=True)]
    return score_tokens(examples, predicted)


def metrics_named(found: Scored, *names: str) -> dict[str, float]:
    return {name: found.metrics[name] for name in names if name in found.metrics}


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


def ratios(prefix: str, precision: float, recall: float) -> dict[str, float]:
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {f"{prefix}_f1": f1, f"{prefix}_precision": precision, f"{prefix}_recall": recall}


def met(one: set[tuple[int, int, int, str]], other: set[tuple[int, int, int, str]]) -> int:
    """How many of one overlap any of the other, as intervals."""
    return sum(
        any((s, kind) == (s2, kind2) and a <= b2 and a2 <= b for s2, a2, b2, kind2 in other)
        for s, a, b, kind in one
    )


@given(gold_and_predicted())
def test_equals_independent_implementations(pair: tuple[Sentences, Sentences]) -> None:
    gold, predicted = pair
    true, guessed = entities(gold), entities(predicted)
    metrics, counts, _ = score_entities(gold, predicted)
    right = len(true & guessed)
    assert counts == {"gold": len(true), "predicted": len(guessed), "correct": right, "examples": len(gold)}
    expected = ratios("entity", right / max(1, len(guessed)), right / max(1, len(true)))
    assert metrics == pytest.approx(expected)
    found = score(gold, predicted)
    assert found.counts["relaxed_correct"] == met(guessed, true)
    assert found.counts["relaxed_found"] == met(true, guessed)
    precision, recall = met(guessed, true) / max(1, len(guessed)), met(true, guessed) / max(1, len(true))
    expected = ratios("relaxed", precision, recall)
    assert metrics_named(found, *expected) == pytest.approx(expected)
    assert found.metrics["relaxed_f1"] >= found.metrics["entity_f1"] - 1e-12
    assert found.metrics["seqeval_0_0_12_f1"] == pytest.approx(scorers.seqeval_0_0_12(gold, predicted))


def test_other_lengths_are_refused() -> None:
    for predicted in ([["O"]], [["O", "O"], ["O"]]):
        for scorer in (score_entities, score):
            with pytest.raises(PubmillError, match="number of sentences or words"):
                scorer([["O"], ["O"]], predicted)


def predicted(sentence: Sentences) -> tagging.PredictedLabels:
    """Predictions as the trainer writes them: those of words are sound BIO."""
    words = [tagging.word_label(subwords) for subwords in sentence]
    return tagging.PredictedLabels(tagging.to_labels(tagging.to_mentions(words), len(words), "bio"), sentence)


def shared(score: Scored, prefix: str) -> dict[str, float]:
    ratios = {name: score.metrics[f"{prefix}_{name}"] for name in ("f1", "precision", "recall")}
    counts = "" if prefix == "entity" else f"{prefix}_"
    return ratios | {name: score.counts[counts + name] for name in ("gold", "predicted", "correct")}


@st.composite
def labelled(
    draw: st.DrawFn, longest: int, later: st.SearchStrategy[str]
) -> tuple[Sentences, list[tagging.PredictedLabels]]:
    """Gold labels of words, and predictions for their subwords."""
    gold = draw(st.lists(st.lists(OF_SUBWORDS, min_size=1, max_size=8), min_size=1, max_size=5))
    first = st.one_of(OF_SUBWORDS, st.just("X"))
    return gold, [
        predicted(
            [
                [draw(st.one_of(st.just(label), first)), *draw(st.lists(later, max_size=longest - 1))]
                for label in labels
            ]
        )
        for labels in gold
    ]


@given(labelled(4, st.just("X")))
def test_later_subwords_of_x_give_the_scores_of_words(
    case: tuple[Sentences, list[tagging.PredictedLabels]],
) -> None:
    assert shared(score(*case), "subtoken") == shared(score(*case), "entity")


@given(labelled(4, st.one_of(st.just("X"), OF_SUBWORDS)))
def test_the_gold_entities_of_subwords_are_those_of_words(
    case: tuple[Sentences, list[tagging.PredictedLabels]],
) -> None:
    subwords, words = shared(score(*case), "subtoken"), shared(score(*case), "entity")
    assert subwords["correct"] <= subwords["gold"] == words["gold"]


def test_the_figure_of_the_paper_and_a_subword_that_separates_two_words() -> None:
    """shin2020 Figure 1: `undifferentiated Fibrillation` in BERT's pieces."""
    gold = ["B", "I"]
    right = [tagging.gold_subwords("B", 5), tagging.gold_subwords("I", 4)]
    assert right == [["B", "X", "X", "X", "X"], ["I", "X", "X", "X"]]
    assert shared(score([gold], [predicted(right)]), "subtoken")["correct"] == 1
    broken = [["B", "X", "O", "X", "X"], ["I", "X", "X", "X"]]
    case = [gold], [predicted(broken)]
    assert shared(score(*case), "subtoken") == {
        "f1": 0.0, "precision": 0.0, "recall": 0.0, "gold": 1, "predicted": 2, "correct": 0,
    }  # fmt: skip
    assert score_entities(*case).metrics["entity_f1"] == 1.0
    case = [["O", "B"]], [predicted([["I", "O"], ["I"]])]
    assert shared(score(*case), "subtoken")["correct"] == 1
    assert shared(score(*case), "entity")["correct"] == 0


def test_labels_of_words_alone_define_no_score() -> None:
    found = score([["B", "O"]], [["B", "O"]])
    assert not [name for name in (*found.metrics, *found.counts) if name.startswith("subtoken")]
    both = score([["B"], ["B"]], [["B"], predicted([["O"]])])
    assert both.metrics["subtoken_f1"] == pytest.approx(0.0) and both.counts["subtoken_gold"] == 1


@given(st.lists(st.lists(st.tuples(OF_WORDS, OF_WORDS), min_size=1, max_size=8), min_size=1, max_size=4))
def test_equals_scikit_learn_and_layers_without_overlap_score_as_labels(
    pairs: list[list[tuple[str, str]]],
) -> None:
    gold, predicted = ([[one[side] for one in sentence] for sentence in pairs] for side in (0, 1))
    names = {"participants": "PAR", "interventions": "INT", "outcomes": "OUT"}
    layers = [
        {name: [int(one[-3:] == of) for one in labels] for name, of in names.items()} for labels in gold
    ]
    found, without = score(gold, predicted, layers), score(gold, predicted)
    word_macro_f1 = without.metrics.get("word_macro_f1")
    assert found.metrics.get("layers_macro_f1") == found.metrics.get("word_macro_f1") == word_macro_f1
    true, given_ = ([label[-3:] for labels in side for label in labels] for side in (gold, predicted))
    elements = sorted(set(true) - {"O"})
    if not elements:
        assert word_macro_f1 is None
        return
    expected = sklearn_metrics.f1_score(true, given_, labels=elements, average="macro", zero_division=0)
    assert word_macro_f1 == pytest.approx(expected) and "layers_macro_f1" not in without.metrics
    assert found.counts["gold_words"] == sum(name != "O" for name in true)
    assert found.counts["correct_words"] == sum(a == b != "O" for a, b in zip(true, given_, strict=True))


def test_a_word_of_two_layers_is_missed_by_one_label() -> None:
    """A participant with an intervention inside: PAR has 2 words, INT 1; the one label of the common word is
    right for INT and missed for PAR."""
    layers = {"participants": [1, 1, 0], "interventions": [0, 1, 0], "outcomes": [0, 0, 0]}
    predicted = [["I-PAR", "I-INT", "O"]]
    found = metrics_named(score(predicted, predicted, [layers]), "layers_macro_f1", "word_macro_f1")
    assert found == pytest.approx({"layers_macro_f1": (2 / 3 + 1) / 2, "word_macro_f1": 1.0})


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


def test_each_type_has_its_scores_and_mentions_without_a_place_are_false() -> None:
    metrics, by_type = scores([["B-x", "I-x", "B-y", "O"]], [["I-x", "I-x", "B-y", "B-y"]])
    assert metrics["entity_f1"] == pytest.approx(0.8)
    assert by_type == {
        "x": {"precision": 1, "recall": 1, "f1-score": 1, "support": 1},
        "y": {"precision": 0.5, "recall": 1, "f1-score": pytest.approx(2 / 3), "support": 1},
    }
    _, by_type = scores([["B", "O"]], [tagging.ExtendedLabels(["B", "O"], [("", 2)])])
    assert by_type["_"]["precision"] == 0.5


def test_contributions_that_are_not_the_entities_of_seqeval_are_an_error() -> None:
    """It reads a type without the hyphens around it."""
    with pytest.raises(
        PubmillError,
        match="ncbi-disease, document d1: entities gold 1, predicted 1, correct 0 contribute to the score, "
        "but seqeval finds entities gold 1, predicted 1, correct 1",
    ):
        scores([["B-x"], ["B-x"], ["B-x-"]], [["B-x"], ["B-x"], ["B-x"]])

"""Scorers of the literature: what each counts, on small cases, and which give a printed number.

`tests/attack/scorers.py` compares them with the literature's own scorers.
"""

import pytest

from pubmill.errors import PubmillError
from pubmill.examples.kinds import (
    MultilabelExample,
    RegressionExample,
    SequenceExample,
    SpanExample,
    TokensExample,
)
from pubmill.examples.tagging import PredictedLabels
from pubmill.metrics import SCORERS, metrics_of
from pubmill.metrics.scorers import (
    PUBLISHED_SCORERS,
    USED,
    ScorerResult,
    matching,
    nearest,
    score_by_all,
    scorers_of,
)


def sentence(labels: str, document: str | None = None) -> TokensExample:
    words = labels.split()
    return TokensExample(id=labels, document=document, words=words, labels=words)


def token_scores(*sentences: tuple[str, str], document: str | None = None) -> dict[str, float | None]:
    """Return the scores of sentences, each as its gold and its predicted labels."""
    gold = [sentence(labels, document) for labels, _ in sentences]
    predicted = [labels.split() for _, labels in sentences]
    return by_name(score_by_all("tokens", "ner", gold, predicted, None))


def by_name(scores: list[ScorerResult]) -> dict[str, float | None]:
    return {one.scorer.name: one.score for one in scores}


def test_names_are_unique_and_every_registered_metric_is_a_scorer() -> None:
    for kind, scorers in PUBLISHED_SCORERS.items():
        names = [one.name for one in scorers]
        assert len(set(names)) == len(names)
        metrics = [one.name for one in metrics_of(kind)]
        assert names[: len(metrics)] == metrics and set(USED.get(kind, {})) <= set(metrics)
        assert all(one.used and one.definition for one in scorers)
    assert set(PUBLISHED_SCORERS) == set(SCORERS)


def test_scorers_are_restricted_to_their_tasks() -> None:
    names = {task: {one.name for one in scorers_of("tokens", task)} for task in ("ner", "pico")}
    assert names["pico"] - names["ner"] == {"word_macro_f1", "layers_macro_f1"}
    assert "repeated_subwords_f1" in names["ner"] - names["pico"]
    assert "bioasq_macro_f1" not in {one.name for one in scorers_of("sequence", "relation")}


def test_words_are_scored_with_and_without_o_and_prefixes() -> None:
    scores = token_scores(("B-A I-A O O", "I-A I-A O I-A"))
    assert scores["word_types_micro"] == pytest.approx(0.8)
    assert scores["word_types_micro_o"] == 0.75
    assert scores["word_labels_micro"] == pytest.approx(0.4)
    assert scores["word_labels_micro_o"] == 0.5
    assert scores["word_labels_macro"] == pytest.approx((0.0 + 0.5) / 2)
    assert scores["word_labels_macro_o"] == pytest.approx((0.0 + 0.5 + 2 / 3) / 3)


def test_words_behind_the_limit_are_cut_or_missed() -> None:
    labels = " ".join(["B-A"] * 126 + ["B-A"])
    scores = token_scores((labels, labels))
    assert (scores["entity_f1"], scores["entity_f1_cut_at_128"]) == (1.0, 1.0)
    assert scores["entity_f1_missed_after_128"] == pytest.approx(2 * 126 / (127 + 126))
    assert scores["entity_f1_missed_after_256"] == 1.0


def test_the_limit_counts_subwords_where_they_are_known() -> None:
    gold = sentence("B-A B-A")
    predicted = PredictedLabels(["B-A", "B-A"], [["B-A", *["X"] * 125], ["B-A"]])
    scores = by_name(score_by_all("tokens", "ner", [gold], [predicted], None))
    assert scores["entity_f1_missed_after_128"] == pytest.approx(2 / 3)
    assert scores["entity_f1_missed_after_256"] == 1.0


def test_labels_of_all_subwords() -> None:
    gold = sentence("B-A O")
    predicted = PredictedLabels(["B-A", "O"], [["B-A", "X", "B-A"], ["O", "X"]])
    scores = by_name(score_by_all("tokens", "ner", [gold], [predicted], None))
    assert scores["entity_f1"] == 1.0
    assert scores["subtoken_f1"] == 0.0
    assert scores["repeated_subwords_f1"] == 1.0
    assert scores["subword_labels_macro"] == pytest.approx(2 / 3)
    assert token_scores(("B-A", "B-A"))["repeated_subwords_f1"] is None


def label_scores(gold: str, predicted: str, negative: str | None, task: str) -> dict[str, float | None]:
    examples = [
        SequenceExample(id=str(number), document=None, text="t", label=label)
        for number, label in enumerate(gold.split())
    ]
    return by_name(score_by_all("sequence", task, examples, predicted.split(), negative))


def test_averages_of_relations_with_and_without_the_negative_label() -> None:
    scores = label_scores("a a a b 0 0", "a a b b 0 a", "0", "relation")
    f1 = {"a": 2 / 3, "b": 2 / 3, "0": 2 / 3}
    assert scores["macro_f1"] == pytest.approx(sum(f1.values()) / 3)
    assert scores["macro_f1_positive"] == pytest.approx((f1["a"] + f1["b"]) / 2)
    assert scores["micro_f1"] == pytest.approx(6 / 9) and scores["accuracy"] == pytest.approx(4 / 6)
    assert scores["micro_f1_all"] == scores["accuracy"]
    assert scores["detection_f1"] == pytest.approx(8 / 9)
    assert scores["macro_f1_of_means_positive"] == pytest.approx(2 * (7 / 12) * (5 / 6) / (7 / 12 + 5 / 6))
    assert label_scores("a b", "a b", None, "relation")["macro_f1_positive"] is None


def test_weighted_averages_count_the_gold_labels() -> None:
    scores = label_scores("a a a b 0 0 0 0", "a a a 0 0 0 0 0", "0", "relation")
    assert scores["weighted_f1_positive"] == pytest.approx(0.75)
    assert scores["weighted_f1"] == pytest.approx((3 + 0 + 4 * 8 / 9) / 8)


def test_bioasq_averages_yes_and_no_even_where_one_does_not_occur() -> None:
    scores = label_scores("yes yes yes", "yes yes no", None, "yes-no")
    assert scores["bioasq_yes_f1"] == pytest.approx(4 / 5) and scores["bioasq_no_f1"] == 0.0
    assert scores["bioasq_macro_f1"] == pytest.approx(2 / 5)
    scores = label_scores("yes yes", "yes yes", None, "yes-no")
    assert (scores["bioasq_no_f1"], scores["bioasq_macro_f1"]) == (0.0, 0.5)
    # An answer that is neither is a fault of both.
    scores = label_scores("yes no", "yes none", None, "yes-no")
    assert scores["bioasq_yes_f1"] == pytest.approx(2 / 3) and scores["bioasq_no_f1"] == 0.0
    assert label_scores("yes maybe", "yes yes", None, "yes-no")["bioasq_macro_f1"] is None


def set_scores(*documents: tuple[str, str]) -> dict[str, float | None]:
    examples = [
        MultilabelExample(id=str(number), document=None, text="t", labels=list(gold))
        for number, (gold, _) in enumerate(documents)
    ]
    predicted = [list(found) for _, found in documents]
    return by_name(score_by_all("multilabel", "classification", examples, predicted, None))


def test_the_scores_of_hallmarks_differ() -> None:
    scores = set_scores(("ab", "a"), ("a", "a"), ("b", "ab"))
    assert scores["micro_f1"] == pytest.approx(6 / 8)
    assert scores["macro_f1"] == pytest.approx((0.8 + 2 / 3) / 2)
    assert scores["example_f1"] == pytest.approx(2.5 / 3)
    assert scores["example_f1_mean"] == pytest.approx((2 / 3 + 1 + 2 / 3) / 3)
    assert scores["example_overlap"] == pytest.approx(2 / 3)
    assert scores["exact_label_sets"] == pytest.approx(1 / 3)
    assert scores["label_accuracy"] == pytest.approx(4 / 6)
    assert scores["weighted_f1_labels"] == pytest.approx((0.8 + 2 / 3) / 2)
    assert scores["example_f1_labelled"] is None
    nothing = set_scores(("", ""))
    assert nothing["label_accuracy"] == nothing["example_overlap"] == 1.0


def test_documents_without_a_gold_label_are_left_out_or_counted() -> None:
    scores = set_scores(("a", "a"), ("", ""), ("", "b"))
    assert scores["example_f1"] is None and scores["example_f1_labelled"] == 1.0
    assert scores["example_f1_mean"] == pytest.approx(1 / 3)
    assert scores["example_overlap"] == pytest.approx(2 / 3)


def question(name: str, gold: str, group: str | None = None) -> SpanExample:
    golds = [gold] if gold else []
    return SpanExample(
        id=name, document=None, question="?", context="c", answers=[], group=group, golds=golds
    )


def span_scores(examples: list[SpanExample], answers: list[str]) -> dict[str, float | None]:
    ranked = [[(answer, 1.0 - number / 10)] for number, answer in enumerate(answers)]
    return by_name(score_by_all("span", "factoid", examples, ranked, None))


def test_contexts_are_questions_of_their_own() -> None:
    examples = [question("1", "x", "q"), question("2", "x", "q"), question("3", "y", "p")]
    scores = span_scores(examples, ["x", "z", "y"])
    assert scores["exact_match"] == 1.0 and scores["exact_match_contexts"] == pytest.approx(2 / 3)
    assert span_scores([question("1", "x")], ["x"])["exact_match_contexts"] is None


def test_questions_without_an_answer_are_left_out() -> None:
    scores = span_scores([question("1", "x y"), question("2", "")], ["x", "z"])
    assert scores["exact_match"] == 0.0 and scores["f1"] == pytest.approx(1 / 3)
    assert scores["exact_match_answerable"] == 0.0 and scores["f1_answerable"] == pytest.approx(2 / 3)
    assert scores["mrr"] is None
    assert span_scores([question("1", "x")], ["x"])["f1_answerable"] is None


def test_ranks_of_equal_scores_are_their_mean() -> None:
    gold = [
        RegressionExample(id=str(n), document=None, text="t", text_pair="u", score=value)
        for n, value in enumerate([0.0, 1.0, 1.0, 9.0])
    ]
    scores = by_name(score_by_all("regression", "similarity", gold, [1.0, 2.0, 2.0, 3.0], None))
    assert scores["spearman"] == pytest.approx(1.0)
    pearson = scores["pearson"]
    assert pearson is not None and pearson < 0.9
    assert scores["pearson_spearman_mean"] == pytest.approx((1 + pearson) / 2)
    constant = by_name(score_by_all("regression", "similarity", gold, [1.0] * 4, None))
    assert constant["spearman"] == constant["pearson_spearman_mean"] == 0


SCORES = score_by_all("tokens", "ner", [sentence("O B-A I-A")], [["O", "I-A", "I-A"]], None)


def test_all_scorers_that_round_to_a_number_are_named() -> None:
    named = [one.scorer.name for one in matching(SCORES, "100.0")]
    assert {"entity_f1", "word_types_micro"} <= set(named) and "entity_f1_strict_iob2" not in named
    third = score_by_all("tokens", "ner", [sentence("B-A O B-A")], [["B-A", "B-A", "B-A"]], None)
    assert {one.scorer.name for one in matching(third, "67")} >= {"entity_precision"}
    assert not matching(third, "66.6") and matching(third, "66.7")
    half = [third[0]._replace(score=score) for score in (0.9525, 0.9535)]
    assert matching(half, "95.3") == half  # rounded down or up


def test_the_nearest_scorer_is_known_where_none_matches() -> None:
    assert matching(SCORES, "12.3") == []
    near = nearest(SCORES, "12.3")
    assert near is not None and near.score == 0.0
    assert nearest([one for one in SCORES if one.score is None], "1.0") is None


@pytest.mark.parametrize("printed", ["", "95,3", "x", "nan", "inf", "1e2"])
def test_what_is_no_printed_number_is_refused(printed: str) -> None:
    with pytest.raises(PubmillError, match="not a printed number"):
        matching(SCORES, printed)

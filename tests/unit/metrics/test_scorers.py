"""Scorers of the papers: what each counts, on small cases.

`tests/attack/scorers.py` compares them with the literature's own scorers.
"""

from collections.abc import Sequence
from typing import Any

import pytest

from pubmill.metrics import SCORERS, metrics_of
from pubmill.metrics.registry import NO_PREDICTION
from pubmill.metrics.scorers import PUBLISHED_SCORERS, USED, score_by_all
from tests.unit.metrics.toy_predictions import documents, labelled, tokens


def test_names_are_unique_and_every_registered_metric_is_a_scorer() -> None:
    for kind, scorers in PUBLISHED_SCORERS.items():
        names = [one.name for one in scorers]
        assert len(set(names)) == len(names)
        metrics = [one.name for one in metrics_of(kind)]
        assert names[: len(metrics)] == metrics and set(USED.get(kind, {})) <= set(metrics)
        assert all(one.used and one.definition for one in scorers)
    assert set(PUBLISHED_SCORERS) == set(SCORERS)


def scores(
    kind: str, task: str, gold: Sequence[Any], predicted: Sequence[Any], negative: str | None = None
) -> dict[str, float | None]:
    return {one.scorer.name: one.score for one in score_by_all(kind, task, gold, predicted, negative)}


def test_scorers_are_restricted_to_their_tasks() -> None:
    ner, pico = (scores("tokens", task, tokens("B O"), [["B", "O"]]) for task in ("ner", "pico"))
    assert pico.keys() - ner.keys() == {"word_macro_f1", "layers_macro_f1"}
    assert "subtoken_f1" in ner.keys() - pico.keys() and pico["layers_macro_f1"] is None


def test_mentions_are_counted_with_and_without_their_types() -> None:
    """3 of 7 and 5 mentions are equal without types, 2 with them."""
    gold = tokens("B-X I-X O B-Y O B-Y O B-Y", "B-X B-X B-Y", "O O")
    predicted = ["B-X O O B-X O I-Y O B-Y", "B-X I-X O", "O O"]
    found = scores("tokens", "ner", gold, [one.split() for one in predicted])
    assert found["entity_f1"] == pytest.approx(2 * 2 / (7 + 5))
    assert found["entity_f1_untyped"] == pytest.approx(2 * 3 / (7 + 5))


@pytest.mark.parametrize(
    ("gold", "predicted", "negative", "macro", "weighted"),
    [
        ("a a a b 0 0", "a a b b 0 a", "0", 2 / 3, 2 / 3),
        ("a a a b 0 0 0 0", "a a a 0 0 0 0 0", "0", 1 / 2, (3 + 0 + 4 * 8 / 9) / 8),
        ("a b", "a b", None, None, 1.0),
        ("0 0", "0 0", "0", None, 1.0),
        ("a 0", f"a {NO_PREDICTION}", "0", 1.0, 1 / 2),
    ],
)
def test_averages_of_relations_with_and_without_the_negative_label(
    gold: str, predicted: str, negative: str | None, macro: float | None, weighted: float
) -> None:
    found = scores("sequence", "relation", labelled(gold.split()), predicted.split(), negative)
    assert found["macro_f1_positive"] == (None if macro is None else pytest.approx(macro))
    assert found["weighted_f1"] == pytest.approx(weighted)


@pytest.mark.parametrize(
    ("gold", "predicted", "whole", "labelled"),
    [
        (["ab", "a", "b"], ["a", "a", "ab"], 2.5 / 3, None),
        (["a", "", ""], ["a", "", "b"], None, 1.0),
        (["", ""], ["", ""], None, None),
    ],
)
def test_documents_without_a_gold_label_are_left_out(
    gold: list[str], predicted: list[str], whole: float | None, labelled: float | None
) -> None:
    found = scores("multilabel", "classification", documents(*gold), [list(labels) for labels in predicted])
    assert found["example_f1"] == (None if whole is None else pytest.approx(whole))
    assert found["example_f1_labelled"] == labelled

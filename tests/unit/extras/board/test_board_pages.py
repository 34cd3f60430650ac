"""Inputs and predictions as a board shows them."""

from typing import Any

import pytest

from pubmill.extras.board.board_pages import shown_prediction, shown_text
from tests.unit.metrics.toy_predictions import MENTIONS, RELATIONS
from tests.unit.predictions import toy_datasets as toy

TEXTS = {
    "ner": "Case 1 : flu fever after old aspirin tablets , not cured .",
    "rel": "drug1 and gene1 in: In 1 assays drug1 changed gene1 levels.",
    "doc": "Abstract 1. More.",
    "sim": "One 1. Two 1.",
    "qa": "What 1? It is gene1 here.",
}


@pytest.mark.parametrize("name", TEXTS)
def test_an_input_is_shown_on_one_line(name: str) -> None:
    assert shown_text(toy.examples(name)[0]) == TEXTS[name]


@pytest.mark.parametrize(
    ("name", "predicted", "shown"),
    [("ner", ["O"] * 3 + ["B-Disease", "I-Disease"] + ["O"] * 2 + ["B-Chemical"] + ["O"] * 4,
      "Disease: flu fever; Chemical: aspirin"),
     ("ner", ["O", "O", "O", "B"] + ["O"] * 8, "flu"), ("ner", ["O"] * 12, "no mention"),
     ("qa", ["gene1", "gene2"], "gene1"), ("rel", "blocks", "blocks"), ("sim", 1.5, "1.5"),
     ("doc", ["one", "two"], "one, two"), ("doc", [], "no label")],
)  # fmt: skip
def test_a_prediction_is_shown_as_text(name: str, predicted: Any, shown: str) -> None:
    assert shown_prediction(toy.examples(name)[0], predicted) == shown


def test_relations_and_nested_mentions_are_shown_as_text() -> None:
    [document], [sentence] = RELATIONS, MENTIONS
    assert (shown_text(document), shown_text(sentence)) == ("ab", "a b")
    said = [["x", "y", "r", "Novel"], ["x", "y", "s"]]
    assert shown_prediction(document, said) == "r, Novel: x and y; s: x and y"
    assert shown_prediction(document, []) == "no relation"
    assert shown_prediction(sentence, [[0, 1, "x"], [0, 2, "y"]]) == "x: a; y: a b"
    assert shown_prediction(sentence, []) == "no mention"

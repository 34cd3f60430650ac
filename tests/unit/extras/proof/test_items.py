"""The form of labelled items, and their counts, as the verifier takes them from a proof."""

from typing import Any

import numpy as np
import pytest

from pubmill.extras.proof.verifier import items
from pubmill.extras.proof.verifier.container import RefusedError

LABELS = ["B-PAR", "I-PAR", "O"]


def gold(**own: Any) -> dict[str, Any]:
    return {"id": "e1", "document": None, **own}


def check(kind: str, true: dict[str, Any], found: dict[str, Any]) -> None:
    items.check_items(kind, [gold(**true)], [found], "run")


@pytest.mark.parametrize("side", [0, 1])
def test_a_label_that_an_item_has_twice_is_refused(side: int) -> None:
    both = [["up", "down"], ["up"]]
    check("multilabel", {"labels": both[0]}, {"labels": both[1]})
    both[side] = ["up", "up"]
    with pytest.raises(RefusedError, match="run: e1 has a label twice"):
        check("multilabel", {"labels": both[0]}, {"labels": both[1]})
    check("tokens", {"labels": ["O", "O"]}, {"labels": ["O", "O"]})


@pytest.mark.parametrize(
    ("true", "found"),
    [({}, {"labels": LABELS[:2]}), ({}, {"labels": LABELS, "subword_labels": [["O"]] * 2}),
     ({"layers": {"participants": [1, 0]}}, {"labels": LABELS}),
     ({"layers": {"participants": [1, 0, 2]}}, {"labels": LABELS})],
)  # fmt: skip
def test_each_word_has_one_label_one_list_of_subwords_and_one_mark(
    true: dict[str, Any], found: dict[str, Any]
) -> None:
    layers = {"participants": [1, 1, 0]}
    check("tokens", {"labels": LABELS, "layers": layers}, {"labels": LABELS, "subword_labels": [["O"]] * 3})
    with pytest.raises(RefusedError, match="run: e1 has other labels or marks than one for each word"):
        check("tokens", {"labels": LABELS, **true}, found)


def test_an_item_has_one_prediction_and_an_id_of_its_own() -> None:
    one = gold(label="up")
    for true, found in (([one, one], 2), ([one], 2), ([one, {**one, "id": "e2"}], 1)):
        message = f"run: {found} predictions for {len(true)} items, each with an id"
        with pytest.raises(RefusedError, match=message):
            items.check_items("sequence", true, [{"label": "up"}] * found, "run")


def test_words_are_counted_by_layer_only_where_an_item_has_layers() -> None:
    marked = gold(labels=LABELS, layers={"participants": [1, 0, 0], "other": [1, 1, 1]})
    answer = {"labels": ["B-PAR", "O", "B-INT"]}
    for true, layers in (
        (gold(labels=LABELS), {}),
        (gold(labels=LABELS, layers={}), {}),
        (marked, {"gold:PAR": 1, "predicted:PAR": 1, "predicted:INT": 1, "correct:PAR": 1}),
    ):
        counted = items.counts_of_labelled_words([true], [answer], None)
        family = {name[len("layer:") :]: sum(of) for name, of in counted.items() if name.startswith("layer:")}
        assert family == layers
        assert (counted["word:gold:PAR"], counted["word:predicted:INT"]) == ([2.0], [1.0])


def test_items_without_a_document_are_units_of_their_own() -> None:
    """An id that is the name of a document stands for no document."""
    documents = [("a", None), ("b", "a"), ("c", None), ("d", "a")]
    found = items.units_of_items([{"id": name, "document": document} for name, document in documents])
    assert found == [0, 1, 2, 1]


@pytest.mark.parametrize(
    ("name", "most"), [("relaxed_correct", "predicted"), ("precision", "examples"),
                       ("word:correct:PAR", "word:gold:PAR or word:predicted:PAR")],
)  # fmt: skip
def test_a_count_is_at_most_what_it_is_a_part_of(name: str, most: str) -> None:
    limits = most.split(" or ")
    names = [name, *limits]
    assert not items.implausible_counts("tokens", names, np.full((1, 1, len(names)), 2.0))
    for place in range(1, len(names)):
        counts = np.full((1, 1, len(names)), 2.0)
        counts[0, 0, place] = 1.5
        assert items.implausible_counts("tokens", names, counts) == f"{name} is larger than {most}"
    alone = items.implausible_counts("tokens", [name], np.ones((1, 3, 1)))
    assert alone == f"{name} is larger than {most}"

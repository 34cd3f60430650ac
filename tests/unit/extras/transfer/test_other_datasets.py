"""Predicted labels in the type of another dataset's mentions."""

import pytest

from pubmill.errors import PubmillError
from pubmill.examples.kinds import TokensExample
from pubmill.extras.transfer.other_datasets import labels_for, with_type
from tests.unit.prediction.toy_annotators import tagger


@pytest.mark.parametrize(
    ("predicted", "gold", "expected"),
    [
        ("B I O B", "O B O O", "B I O B"),
        ("B I O B", "O B-Disease O O", "B-Disease I-Disease O B-Disease"),
        ("B-X I-X B-X O", "B O O O", "B I B O"),
        ("I-X I-X O O", "B-Y O O O", "B-Y I-Y O O"),
        ("O O O O", "B-Y O O O", "O O O O"),
    ],
)
def test_the_type_is_that_of_the_gold_labels(predicted: str, gold: str, expected: str) -> None:
    assert with_type([predicted.split()], [gold.split()], "here") == [expected.split()]


@pytest.mark.parametrize(("predicted", "gold"), [("B-X B-Y", "B O"), ("B O", "B-X B-Y")])
def test_several_types_do_not_agree(predicted: str, gold: str) -> None:
    with pytest.raises(PubmillError, match="here: mentions of one type are needed, but"):
        with_type([predicted.split()], [gold.split()], "here")


def test_a_models_labels_get_the_type_of_the_other_dataset() -> None:
    words, gold = ["the", "Big", "Apple", "grows"], ["O", "B-Disease", "O", "O"]
    example = TokensExample(id="1", document=None, words=words, labels=gold)
    assert labels_for(tagger(), [example], "here") == [["O", "B-Disease", "I-Disease", "O"]]

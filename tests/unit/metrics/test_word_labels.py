"""F1 over words against scikit-learn, and by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from pubmill.errors import PubmillError
from pubmill.metrics.word_labels import score_layers, score_words

LABEL = st.sampled_from(["O", "B-PAR", "I-PAR", "B-INT", "I-INT", "I-OUT"])


@given(st.lists(st.lists(st.tuples(LABEL, LABEL), min_size=1, max_size=8), min_size=1, max_size=4))
def test_equals_scikit_learn(pairs: list[list[tuple[str, str]]]) -> None:
    gold = [[label for label, _ in sentence] for sentence in pairs]
    predicted = [[label for _, label in sentence] for sentence in pairs]
    true, given_ = ([label[-3:] for labels in side for label in labels] for side in (gold, predicted))
    elements = sorted(set(true) - {"O"})
    metrics, counts, _ = score_words(gold, predicted)
    if not elements:
        assert metrics == {}
        return
    expected = f1_score(true, given_, labels=elements, average="macro", zero_division=0)
    assert metrics == pytest.approx({"word_macro_f1": expected})
    assert counts["gold_words"] == sum(name != "O" for name in true)
    assert counts["correct_words"] == sum(a == b != "O" for a, b in zip(true, given_, strict=True))


def test_prefixes_do_not_matter() -> None:
    metrics, counts, _ = score_words([["B-P", "I-P", "O"]], [["I-P", "B-P", "O"]])
    assert metrics == {"word_macro_f1": 1.0}
    assert counts == {"gold_words": 2, "predicted_words": 2, "correct_words": 2}


def test_an_element_that_is_never_predicted_counts_as_zero() -> None:
    metrics, *_ = score_words([["B-P", "B-O", "O"]], [["B-P", "O", "O"]])
    assert metrics == {"word_macro_f1": 0.5}


def test_an_element_that_the_gold_lacks_is_none_of_the_datasets() -> None:
    metrics, *_ = score_words([["B-P", "B-P"]], [["B-P", "B-X"]])
    assert metrics == pytest.approx({"word_macro_f1": 2 / 3})


def test_without_gold_elements_there_is_no_score() -> None:
    assert score_words([["O"]], [["B-P"]])[0] == {}


def test_other_lengths_are_refused() -> None:
    with pytest.raises(PubmillError, match="number of sentences or words"):
        score_words([["O"]], [["O", "O"]])


def test_a_word_of_two_layers_is_missed_by_one_label() -> None:
    """A participant with an intervention inside: PAR has 2 words, INT 1; the one label of the common word is
    right for INT and missed for PAR."""
    layers = {"participants": [1, 1, 0], "interventions": [0, 1, 0], "outcomes": [0, 0, 0]}
    predicted = [["I-PAR", "I-INT", "O"]]
    assert score_layers([layers], predicted)[0] == pytest.approx({"layers_macro_f1": (2 / 3 + 1) / 2})
    assert score_words([["I-PAR", "I-INT", "O"]], predicted)[0] == {"word_macro_f1": 1.0}


@given(st.lists(st.lists(st.tuples(LABEL, LABEL), min_size=1, max_size=8), min_size=1, max_size=4))
def test_without_overlap_layers_score_as_labels_do(pairs: list[list[tuple[str, str]]]) -> None:
    names = {"participants": "PAR", "interventions": "INT", "outcomes": "OUT"}
    gold = [[label for label, _ in sentence] for sentence in pairs]
    predicted = [[label for _, label in sentence] for sentence in pairs]
    layers = [
        {name: [int(one[-3:] == of) for one in labels] for name, of in names.items()} for labels in gold
    ]
    by_label = score_words(gold, predicted)[0]
    by_layer = score_layers(layers, predicted)[0]
    assert by_layer.get("layers_macro_f1") == by_label.get("word_macro_f1")


def test_examples_without_layers_have_no_score_by_layers() -> None:
    assert score_layers([{}], [["B-PAR"]])[0] == {}

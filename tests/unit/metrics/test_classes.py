"""Labels and sets of labels against scikit-learn, and by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score
from sklearn.preprocessing import MultiLabelBinarizer

from pubmill.metrics.classes import score_label_sets, score_labels

PAIRS = st.lists(st.tuples(st.sampled_from("0123"), st.sampled_from("0123")), min_size=1, max_size=30)
SETS = st.lists(st.sampled_from("xyz"), unique=True).map(sorted)


@given(PAIRS, st.sampled_from([None, "0", "absent"]))
def test_labels_equal_scikit_learn(pairs: list[tuple[str, str]], negative: str | None) -> None:
    gold, predicted = ([pair[side] for pair in pairs] for side in (0, 1))
    positive = sorted({*gold, *predicted} - {negative})
    expected = {
        "accuracy": accuracy_score(gold, predicted),
        "macro_f1": f1_score(gold, predicted, average="macro"),
    }
    if positive:
        for name, score in (("f1", f1_score), ("precision", precision_score), ("recall", recall_score)):
            given = {"labels": positive, "average": "micro", "zero_division": 0}
            expected[f"micro_{name}"] = score(gold, predicted, **given)
    if {*gold, *predicted} == {"0", *positive} and len(positive) == 1 and negative == "0":
        expected["positive_f1"] = f1_score(gold, predicted, pos_label=positive[0])
    metrics, counts, _ = score_labels(gold, predicted, negative)
    assert metrics == pytest.approx(expected)
    assert counts["gold"] == sum(label != negative for label in gold)
    assert (counts["predicted"], counts["examples"]) == (
        sum(label != negative for label in predicted),
        len(gold),
    )


def test_nothing_positive_anywhere_has_no_micro_f1() -> None:
    metrics, counts, _ = score_labels(["no", "no"], ["no", "no"], "no")
    assert metrics == {"accuracy": 1.0, "macro_f1": 1.0}
    assert counts == {"gold": 0, "predicted": 0, "correct": 0, "examples": 2}


@given(st.lists(st.tuples(SETS, SETS), min_size=1, max_size=12))
def test_label_sets_equal_scikit_learn(pairs: list[tuple[list[str], list[str]]]) -> None:
    gold, predicted = ([pair[side] for pair in pairs] for side in (0, 1))
    metrics, counts, _ = score_label_sets(gold, predicted)
    labels = sorted({label for row in (*gold, *predicted) for label in row})
    assert ("example_f1" in metrics) == all(gold)
    assert counts["without_gold"] == sum(not row for row in gold)
    if not labels:
        assert not metrics
        return
    # One column more than there are labels: scikit-learn takes a single one for binary labels.
    binary = MultiLabelBinarizer(classes=[*labels, "none"])
    true, given_ = binary.fit_transform(gold), binary.transform(predicted)
    columns = list(range(len(labels)))
    for name, average in {"micro_f1": "micro", "macro_f1": "macro"}.items():
        expected = f1_score(true, given_, labels=columns, average=average, zero_division=0)
        assert metrics[name] == pytest.approx(expected)


def test_f1_over_examples_is_that_of_two_means() -> None:
    """Three documents with precision 1, 1/2, 0 (nothing predicted) and recall 1/2, 1, 0."""
    metrics, *_ = score_label_sets([["a", "b"], ["a"], ["c"]], [["a"], ["a", "b"], []])
    assert metrics["example_f1"] == pytest.approx(0.5)
    uneven, *_ = score_label_sets([["a", "b", "c", "d"], ["a"]], [["a"], ["a"]])
    assert uneven["example_f1"] == pytest.approx(2 * 1 * 0.625 / 1.625)


def test_nothing_right_is_zero_and_not_undefined() -> None:
    metrics, *_ = score_label_sets([["a"], ["b"]], [["b"], ["a"]])
    assert metrics == {"micro_f1": 0.0, "macro_f1": 0.0, "example_f1": 0.0}

"""Labels, sets of labels and relations against other implementations, and collapsed runs."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score
from sklearn.preprocessing import MultiLabelBinarizer

from pubmill.examples.kinds import Entity, MentionsExample, RelationsExample, WordSpan, sorted_lists
from pubmill.examples.tagging import to_labels, to_mentions
from pubmill.metrics.classes import score_label_sets, score_labels
from pubmill.metrics.collapse import is_collapsed
from pubmill.metrics.relation_sets import score_relations
from tests.unit.metrics.toy_predictions import documents, labelled, pairs, questions, tokens

PAIRS = st.lists(st.tuples(st.sampled_from("0123"), st.sampled_from("0123")), min_size=1, max_size=30)
SETS = st.lists(st.sampled_from("xyz"), unique=True).map(sorted)
Relations = Sequence[Sequence[str]]


@given(PAIRS, st.sampled_from([None, "0", "absent"]))
def test_labels_equal_scikit_learn(pairs: list[tuple[str, str]], negative: str | None) -> None:
    gold, predicted = ([pair[side] for pair in pairs] for side in (0, 1))
    positive = sorted({*gold, *predicted} - {negative})
    expected = {
        "accuracy": accuracy_score(gold, predicted), "macro_f1": f1_score(gold, predicted, average="macro"),
    }  # fmt: skip
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
        sum(label != negative for label in predicted), len(gold),
    )  # fmt: skip


def test_labels_by_hand() -> None:
    """Three documents with precision 1, 1/2, 0 (nothing predicted) and recall 1/2, 1, 0; and the borders."""
    metrics, *_ = score_label_sets([["a", "b"], ["a"], ["c"]], [["a"], ["a", "b"], []])
    assert metrics["example_f1"] == pytest.approx(0.5)
    uneven, *_ = score_label_sets([["a", "b", "c", "d"], ["a"]], [["a"], ["a"]])
    assert uneven["example_f1"] == pytest.approx(2 * 1 * 0.625 / 1.625)
    metrics, *_ = score_label_sets([["a"], ["b"]], [["b"], ["a"]])
    assert metrics == {"micro_f1": 0.0, "macro_f1": 0.0, "example_f1": 0.0}
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


def document(name: str, relations: Relations) -> RelationsExample:
    entities = [Entity(start=0, end=1, type="C", id=one) for one in "abc"]
    pairs = [["a", "b"], ["a", "c"], ["b", "c"]]
    return RelationsExample(
        id=name, document=name, text="t", entities=entities, pairs=pairs, relations=sorted_lists(relations)
    )


def scores(*documents: tuple[Relations, Relations]) -> dict[str, float]:
    gold = [document(str(number), relations) for number, (relations, _) in enumerate(documents)]
    return score_relations(gold, [found for _, found in documents]).metrics


def test_relations_of_all_documents_count_together_and_a_level_compares_its_parts_alone() -> None:
    """The counts of BioCreative V: what is found, over what is predicted and what there is."""
    found = scores(
        ([["a", "b", "r"], ["x", "y", "r"]], [["a", "b", "r"], ["b", "c", "r"]]), ([], [["a", "b", "r"]]),
        ([["a", "c", "r"]], []),
    )  # fmt: skip
    for name in ("precision", "recall", "f1"):
        assert found[f"relation_{name}"] == pytest.approx(1 / 3)
    assert "relation_novelty_f1" not in found
    gold = [["a", "b", "r", "Novel"], ["a", "c", "s", "No"]]
    found = scores((gold, [["a", "b", "s", "Novel"], ["a", "c", "s", "Novel"]]))
    assert (found["relation_f1"], found["relation_pair_f1"]) == (0.5, 1.0)
    assert (found["relation_novelty_f1"], found["relation_pair_novelty_f1"]) == (0.0, 0.5)
    assert scores(([], []))["relation_f1"] == 0.0


def official_counts(gold: Relations, found: Relations) -> tuple[int, int, int]:
    """Return true positives, false positives and false negatives as `run_biored_eval.py` counts them: of
    relations with the two concepts in order of their names."""
    true, predicted = ({(*sorted(one[:2]), *one[2:]) for one in relations} for relations in (gold, found))
    return len(true & predicted), len(predicted - true), len(true - predicted)


def _turned(relation: Sequence[str]) -> list[str]:
    """Return a relation of two known concepts with these in the other order."""
    first, second, *rest = relation
    return [first, second, *rest] if second == "z" else [second, first, *rest]


def test_all_levels_agree_with_the_counts_of_the_official_evaluation() -> None:
    generator = np.random.default_rng(5)
    possible = [
        [*pair, label, novelty]
        for pair, label, novelty in product(("ab", "ac", "bc", "az"), "rs", ("Novel", "No"))
    ]
    levels = {"": (0, 1, 2), "pair_": (0, 1), "novelty_": (0, 1, 2, 3), "pair_novelty_": (0, 1, 3)}
    for _ in range(30):
        documents = [
            tuple([one for one in possible if generator.random() < 0.4] for _ in range(2)) for _ in range(4)
        ]
        found = scores(*((gold, [_turned(one) for one in predicted]) for gold, predicted in documents))
        for prefix, parts in levels.items():
            counts = [
                official_counts(*([[one[part] for part in parts] for one in side] for side in both))
                for both in documents
            ]
            right, wrong, missed = map(sum, zip(*counts, strict=True))
            expected = 2 * right / (2 * right + wrong + missed)
            assert found[f"relation_{prefix}f1"] == pytest.approx(expected)


def test_relations_the_best_answers_and_mentions_may_collapse() -> None:
    gold = [document("1", [["a", "b", "r"]]), document("2", [])]
    assert is_collapsed(gold, [[], []]) and not is_collapsed(gold, [[["a", "b", "r"]], []])
    asked, none = questions(["pain"], ["flu"]), questions([], [])
    empty, other = [("", 0.7)], [("", 0.9), ("pain", 0.1)]
    assert is_collapsed(asked, [empty, other]) and not is_collapsed(none, [empty, other])
    assert is_collapsed(none, [[("of", 1.0)]] * 2) and not is_collapsed(asked, [empty, [("flu", 0.5)]])
    span = WordSpan(first=0, after=1, type="X")
    some = MentionsExample(id="1", document=None, words=["a", "b"], mentions=[span])
    bare, equal = replace(some, mentions=[]), [[(0, 1, "X")]] * 2
    assert is_collapsed([some, bare], [[], []]) and is_collapsed([some, bare], equal)
    assert not is_collapsed([some, some], equal)
    assert not is_collapsed([some, bare], [[(0, 1, "X")], [(0, 1, "Y")]])


EXAMPLES: dict[str, Callable[[list[Any]], list[Any]]] = {
    "tokens": lambda gold: tokens(*gold), "label": labelled, "labels": lambda gold: documents(*gold),
    "score": lambda gold: pairs(*gold),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "gold", "predicted", "expected"), [
    ("label", ["yes", "no", "yes"], ["yes"] * 3, True), ("label", ["yes"] * 3, ["no"] * 3, True),
    ("label", ["yes"] * 3, ["yes"] * 3, False), ("label", ["yes", "no"], ["yes", "no"], False),
    ("label", ["yes"], ["no"], False), ("tokens", [["O", "O"], ["O"]], [["O", "O"], ["O"]], False),
    ("tokens", [["O", "B-Thing"], ["O"]], [["O", "O"], ["O"]], True),
    ("tokens", [["B-Thing", "O"], ["O"]], [["B-Thing", "O"], ["O"]], False),
    ("labels", [["ba"], ["ba"]], [["ba"], ["ba"]], False), ("labels", [["ba"], []], [[], []], True),
    ("labels", [["ba"], ["ba", "co"]], [["ba"], ["ba", "co"]], False),
    ("score", [1.0, 3.0], [2.0, 2.0], True), ("score", [0.0, 2.0, 4.0], [2.001, 2.0, 1.999], True),
    ("score", [0.0, 2.0, 4.0], [2.1, 2.0, 1.9], False), ("score", [2.0, 2.0], [2.0, 2.0], False),
    ("score", [2.0, 2.0], [3.0, 3.0], True),
])  # fmt: skip
def test_equal_predictions_of_different_gold_are_a_collapse(
    kind: str, gold: list[Any], predicted: list[Any], expected: bool
) -> None:
    assert is_collapsed(EXAMPLES[kind](gold), predicted) is expected


@given(
    st.sampled_from(["O", "B", "I", "B-X", "I-X", "L-X", "U-X"]),
    st.lists(st.integers(1, 5), min_size=2, max_size=6),
)
def test_one_label_of_any_scheme_at_all_words_is_a_collapse(label: str, lengths: list[int]) -> None:
    predicted = [to_labels(to_mentions([label] * words), words, "bio") for words in lengths]
    gold = [["B-Y", *["O"] * (words - 1)] for words in lengths]
    gold[0], gold[1] = ["O"] * lengths[0], ["B-Z"] * lengths[1]
    assert is_collapsed(tokens(*gold), predicted)
    other = [[*predicted[0][:-1], "B-W"], *predicted[1:]]
    assert not is_collapsed(tokens(*gold), other)

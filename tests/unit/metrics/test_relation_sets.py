"""Relations of documents as the official evaluations count them."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from pubmill.examples.kinds import Entity, RelationsExample, sorted_lists
from pubmill.metrics.collapse import is_collapsed
from pubmill.metrics.relation_sets import score_relations

Relations = Sequence[Sequence[str]]


def document(name: str, relations: Relations) -> RelationsExample:
    entities = [Entity(start=0, end=1, type="C", id=one) for one in "abc"]
    pairs = [["a", "b"], ["a", "c"], ["b", "c"]]
    return RelationsExample(
        id=name, document=name, text="t", entities=entities, pairs=pairs, relations=sorted_lists(relations)
    )


def scores(*documents: tuple[Relations, Relations]) -> dict[str, float]:
    gold = [document(str(number), relations) for number, (relations, _) in enumerate(documents)]
    return score_relations(gold, [found for _, found in documents]).metrics


def test_relations_of_all_documents_count_together() -> None:
    """The counts of BioCreative V: what is found, over what is predicted and what there is."""
    found = scores(
        ([["a", "b", "r"], ["x", "y", "r"]], [["a", "b", "r"], ["b", "c", "r"]]),
        ([], [["a", "b", "r"]]),
        ([["a", "c", "r"]], []),
    )
    assert found["relation_precision"] == pytest.approx(1 / 3)
    assert found["relation_recall"] == pytest.approx(1 / 3)
    assert found["relation_f1"] == pytest.approx(1 / 3)
    assert "relation_novelty_f1" not in found


def test_a_level_compares_its_parts_alone() -> None:
    gold = [["a", "b", "r", "Novel"], ["a", "c", "s", "No"]]
    found = scores((gold, [["a", "b", "s", "Novel"], ["a", "c", "s", "Novel"]]))
    assert (found["relation_f1"], found["relation_pair_f1"]) == (0.5, 1.0)
    assert (found["relation_novelty_f1"], found["relation_pair_novelty_f1"]) == (0.0, 0.5)


def test_nothing_there_and_nothing_found_is_zero() -> None:
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


def test_no_relations_at_all_are_a_collapsed_prediction() -> None:
    gold = [document("1", [["a", "b", "r"]]), document("2", [])]
    assert is_collapsed(gold, [[], []])
    assert not is_collapsed(gold, [[["a", "b", "r"]], []])

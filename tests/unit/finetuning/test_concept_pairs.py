"""Relations of documents: what is read of them, the head and its loss, and that they can be learnt."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoTokenizer

from pubmill.examples.kinds import Entity, RelationsExample
from pubmill.finetuning.inputs import collate
from pubmill.finetuning.reader import Reader
from pubmill.finetuning.tasks.concept_pairs import NOVEL, ConceptPairs, threshold_loss
from tests.unit.toy_tasks import OURS

RECIPE = replace(OURS["relations"], head_dropout=0.0)
TEXT = "aspirin hurts pain"


def test_the_loss_is_that_of_adaptive_thresholding() -> None:
    """Computed by hand: the right label against the threshold, and the threshold against the wrong one."""
    scores = torch.tensor([[0.5, 2.0, -1.0], [1.0, 0.0, 3.0]])
    targets = torch.tensor([[1.0, 0.0], [0.0, 0.0]])
    e = math.exp
    first = math.log((e(2.0) + e(0.5)) / e(2.0)) + math.log((e(0.5) + e(-1.0)) / e(0.5))
    second = math.log((e(1.0) + e(0.0) + e(3.0)) / e(1.0))
    assert float(threshold_loss(scores, targets)) == pytest.approx((first + second) / 2)
    # All labels right leave no wrong one to compare.
    assert torch.isfinite(threshold_loss(torch.tensor([[0.0, 4.0, 4.0]]), torch.ones(1, 2)))


def document(**changes: Any) -> RelationsExample:
    values: dict[str, Any] = {
        "entities": [
            Entity(start=0, end=7, type="C", id="C1"),
            Entity(start=14, end=18, type="D", id="D1"),
            Entity(start=14, end=18, type="D", id="D2"),
        ],
        "pairs": [["C1", "D1"], ["C1", "D2"]],
        "relations": [
            ["C1", "D1", "hurts", "Novel"],
            ["C1", "D2", "cures", "No"],
            ["C1", "D2", "hurts", "No"],
        ],
    }
    return RelationsExample(id="1", document="1", **({"text": TEXT} | values | changes))


def task(model: Path, max_length: int = 32) -> ConceptPairs:
    reader = Reader(AutoTokenizer.from_pretrained(model), max_length, "single")
    return ConceptPairs(RECIPE, reader, ["cures", "hurts", NOVEL])


def test_a_document_by_hand(model: Path) -> None:
    """Marks stand around each mention once, and the first is read. Targets are the labels of pairs and their
    novelty; predictions all labels above the threshold with it."""
    of, one = task(model), document()
    instances: Any = of.encode([one]).instances
    words = of.reader.tokenizer.convert_ids_to_tokens(instances[0].ids)
    assert words == ["[CLS]", "*", "aspirin", "*", "hurts", "*", "pain", "*", "[SEP]"]
    assert instances[0].places == [1, 5, 1, 5] and instances[0].groups == [1, 1, 1, 1]
    assert of.labels_of(RECIPE, [one]) == of.labels
    assert of.targets([one], instances) == [[0.0, 1.0, 1.0, 1.0, 1.0, 0.0]]
    above = torch.tensor([[0.0, 1.0, 1.0], [1.0, 1.0, 0.0]])
    assert of.predictions([one], instances, [above]) == [one.relations]


def test_confidences_are_in_the_order_of_the_predicted_relations(model: Path) -> None:
    """Of each label against the threshold; novelty is none of its own."""
    of, one = task(model), document()
    instances: Any = of.encode([one]).instances
    scores = torch.tensor([[0.0, -1.0, 3.0, 9.0], [1.0, 2.0, 4.0, 0.0]])
    batch, network = collate(instances, 0, torch.device("cpu")), torch.nn.Identity()
    predicted = of.predictions([one], instances, [of.output(network, scores, batch)])
    sure = of.confidences([one], instances, [of.probabilities(network, scores, batch)])
    assert predicted == [one.relations]
    assert sure == [pytest.approx([1 / (1 + math.exp(-value)) for value in (3.0, 1.0, 3.0)])]


def test_what_a_short_input_leaves_out_is_counted_and_gets_no_relation(model: Path) -> None:
    of = task(model, max_length=7)
    found = of.encode([document(), document(pairs=[], relations=[])])
    assert found.counts == {"texts_shortened": 2, "mentions_left_out": 0, "pairs_left_out": 0}
    of = task(model, max_length=6)
    found = of.encode([document()])
    assert found.counts == {"texts_shortened": 1, "mentions_left_out": 2, "pairs_left_out": 2}
    assert found.instances == [] and of.predictions([document()], [], []) == [[]]

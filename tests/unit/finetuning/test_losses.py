"""Losses, against their formulas worked out by hand."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pubmill.finetuning.tasks.task import (
    class_weights,
    classification_loss,
    dice_loss,
    label_weights,
    multilabel_loss,
)

PROBABILITIES = [[0.5, 0.25, 0.25], [0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]
SCORES = torch.log(torch.tensor(PROBABILITIES, dtype=torch.float64)) + 3.0
TARGETS = torch.tensor([0, 1, 1])


def test_losses_of_classes_are_the_formulas() -> None:
    """Weighted cross-entropy is divided by the number of examples; the dice loss is that of Li et al. (2019),
    section 3.3, with y = 1, alpha = 0.01 and gamma = 1."""
    weights = torch.tensor([0.5, 2.0, 7.0], dtype=torch.float64)
    q = [(1 - p) ** 0.01 * p for p in (0.5, 0.2, 0.3)]
    by_hand = {
        "cross-entropy": -(math.log(0.5) + math.log(0.2) + math.log(0.3)) / 3,
        "weighted": -(0.5 * math.log(0.5) + 2.0 * math.log(0.2) + 2.0 * math.log(0.3)) / 3,
        "dice": sum(1 - (2 * one * 1 + 1) / (one + 1 + 1) for one in q) / 3,
    }
    for name, expected in by_hand.items():
        assert classification_loss(name, SCORES, TARGETS, weights).item() == pytest.approx(expected)


def test_class_weights_are_inverse_to_frequency() -> None:
    """Those of labels balance the absence and presence of each."""
    assert class_weights([1, 3]) == [2.0, pytest.approx(2 / 3)]
    assert class_weights([2, 0, 2]) == [1.0, 0.0, 1.0]
    absence, presence = label_weights([1, 5, 0, 10], examples=10)
    assert absence == [pytest.approx(10 / 18), 1.0, 1.0, 0.0] and presence == [5.0, 1.0, 0.0, 1.0]


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=20).filter(any))
def test_class_weights_give_all_classes_the_same_share(counts: list[int]) -> None:
    weights = class_weights(counts)
    shares = [weight * count for weight, count in zip(weights, counts, strict=True) if count]
    assert shares == pytest.approx([sum(counts) / len(shares)] * len(shares))


@pytest.mark.parametrize("margin", [0.0, 5.0, 20.0, 100.0, -100.0])
def test_dice_loss_has_finite_gradients_however_sure_the_scores(margin: float) -> None:
    scores = torch.tensor([[margin, 0.0], [0.0, margin]], requires_grad=True)
    loss = dice_loss(scores, torch.tensor([0, 0]))
    loss.backward()
    assert scores.grad is not None and torch.isfinite(scores.grad).all()
    assert 0 <= loss.item() <= 0.5


def test_binary_cross_entropy_is_the_mean_over_examples_and_labels() -> None:
    """And weighs absence and presence, if there are weights."""
    scores = torch.logit(torch.tensor([[0.5, 0.2], [0.9, 0.4]], dtype=torch.float64))
    targets = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    logs = [math.log(0.5), math.log(0.8), math.log(0.1), math.log(0.4)]
    assert multilabel_loss(scores, targets, None).item() == pytest.approx(-sum(logs) / 4)
    weights = torch.tensor([[2.0, 3.0], [5.0, 7.0]], dtype=torch.float64)
    by_hand = -(5 * logs[0] + 3 * logs[1] + 2 * logs[2] + 7 * logs[3]) / 4
    assert multilabel_loss(scores, targets, weights).item() == pytest.approx(by_hand)

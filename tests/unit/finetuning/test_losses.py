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


def test_cross_entropy_is_the_mean_of_minus_log_p() -> None:
    loss = classification_loss("cross-entropy", SCORES, TARGETS, None)
    assert loss.item() == pytest.approx(-(math.log(0.5) + math.log(0.2) + math.log(0.3)) / 3)


def test_class_weights_are_inverse_to_frequency() -> None:
    assert class_weights([1, 3]) == [2.0, pytest.approx(2 / 3)]
    assert class_weights([2, 0, 2]) == [1.0, 0.0, 1.0]
    assert class_weights([5]) == [1.0]


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=20).filter(any))
def test_class_weights_give_all_classes_the_same_share(counts: list[int]) -> None:
    weights = class_weights(counts)
    shares = [weight * count for weight, count in zip(weights, counts, strict=True) if count]
    assert shares == pytest.approx([sum(counts) / len(shares)] * len(shares))


def test_weighted_cross_entropy_is_divided_by_the_number_of_examples() -> None:
    weights = torch.tensor([0.5, 2.0, 7.0], dtype=torch.float64)
    loss = classification_loss("weighted", SCORES, TARGETS, weights)
    by_hand = -(0.5 * math.log(0.5) + 2.0 * math.log(0.2) + 2.0 * math.log(0.3)) / 3
    assert loss.item() == pytest.approx(by_hand)


def test_dice_loss_is_the_formula() -> None:
    """Section 3.3 of Li et al. (2019) with y = 1, alpha = 0.01 and gamma = 1."""
    by_hand = 0.0
    for p in (0.5, 0.2, 0.3):
        q = (1 - p) ** 0.01 * p
        by_hand += 1 - (2 * q * 1 + 1) / (q + 1 + 1)
    assert dice_loss(SCORES, TARGETS).item() == pytest.approx(by_hand / 3)
    assert classification_loss("dice", SCORES, TARGETS, None).item() == pytest.approx(by_hand / 3)


@pytest.mark.parametrize("margin", [0.0, 5.0, 20.0, 100.0, -100.0])
def test_dice_loss_has_finite_gradients_however_sure_the_scores(margin: float) -> None:
    scores = torch.tensor([[margin, 0.0], [0.0, margin]], requires_grad=True)
    loss = dice_loss(scores, torch.tensor([0, 0]))
    loss.backward()
    assert scores.grad is not None and torch.isfinite(scores.grad).all()
    assert 0 <= loss.item() <= 0.5


def test_binary_cross_entropy_is_the_mean_over_examples_and_labels() -> None:
    scores = torch.logit(torch.tensor([[0.5, 0.2], [0.9, 0.4]], dtype=torch.float64))
    targets = torch.tensor([[1.0, 0.0], [1.0, 1.0]], dtype=torch.float64)
    by_hand = -(math.log(0.5) + math.log(0.8) + math.log(0.9) + math.log(0.4)) / 4
    assert multilabel_loss(scores, targets, None).item() == pytest.approx(by_hand)


def test_label_weights_balance_absence_and_presence_of_each_label() -> None:
    absence, presence = label_weights([1, 5, 0, 10], examples=10)
    assert absence == [pytest.approx(10 / 18), 1.0, 1.0, 0.0]
    assert presence == [5.0, 1.0, 0.0, 1.0]


def test_weighted_binary_cross_entropy_weighs_absence_and_presence() -> None:
    scores = torch.logit(torch.tensor([[0.5, 0.2], [0.9, 0.4]], dtype=torch.float64))
    targets = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    weights = torch.tensor([[2.0, 3.0], [5.0, 7.0]], dtype=torch.float64)
    by_hand = -(5 * math.log(0.5) + 3 * math.log(0.8) + 2 * math.log(0.1) + 7 * math.log(0.4)) / 4
    assert multilabel_loss(scores, targets, weights).item() == pytest.approx(by_hand)

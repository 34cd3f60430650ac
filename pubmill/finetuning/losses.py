"""Losses, plain and against label imbalance (shin2020 section 5.5)."""

from collections.abc import Callable, Sequence
from typing import Literal

import torch
from torch.nn import functional

DICE_ALPHA = 0.01
"""Exponent of 1 - p in the dice loss, as in the authors' scripts. The loss is least at p = 1 / (1 + alpha):
with alpha 1 it would hold the probability of the right class at a half."""
DICE_GAMMA = 1.0
"""Smoothing of the dice loss (Li et al. 2019 section 3.3)."""

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def class_weights(counts: Sequence[int]) -> list[float]:
    """Weights in inverse proportion to the classes' numbers of examples; over all examples their mean is 1.

    A class without any example weighs 0: nothing is multiplied by it.
    """
    present = sum(count > 0 for count in counts)
    return [sum(counts) / (present * count) if count else 0.0 for count in counts]


def label_weights(counts: Sequence[int], examples: int) -> list[list[float]]:
    """Weights of absence and of presence (2 x labels), from how many of `examples` have each label.

    Each label is a classification in two; its two weights are its `class_weights`.
    """
    pairs = [class_weights([examples - count, count]) for count in counts]
    return [[pair[side] for pair in pairs] for side in (0, 1)]


def classification_loss(
    name: Literal["cross-entropy", "weighted", "dice"], weights: torch.Tensor | None = None
) -> Loss:
    """A loss of scores (n x classes) and classes (n, int64): the mean over the n.

    `weights` (one a class, on the scores' device) are for "weighted": cross-entropy, each time with the
    weight of the right class. The sum is divided by n, not by the weights in the batch: otherwise a batch of
    one class would not be weighted at all.
    """
    if name == "dice":
        return dice_loss
    if name == "cross-entropy":
        return functional.cross_entropy
    assert weights is not None

    def weighted(scores: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return functional.cross_entropy(scores, targets, weight=weights, reduction="sum") / len(targets)

    return weighted


def multilabel_loss(name: Literal["cross-entropy", "weighted"], weights: torch.Tensor | None = None) -> Loss:
    """A loss of scores and targets (both n x labels; targets 0.0 or 1.0): binary cross-entropy, the mean
    over all of them.

    `weights` (2 x labels: of absence, of presence; `label_weights`) are for "weighted".
    """
    if name == "cross-entropy":
        return functional.binary_cross_entropy_with_logits
    assert weights is not None

    def weighted(scores: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        absence, presence = weights
        chosen = torch.where(targets > 0.5, presence, absence)
        return functional.binary_cross_entropy_with_logits(scores, targets, weight=chosen)

    return weighted


def dice_loss(scores: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Self-adjusting dice loss (Li et al. 2019, arXiv 1911.02855, section 3.3) of scores (n x classes).

    1 - (2 q y + gamma) / (q + y + gamma) with q = (1 - p) ** alpha * p, for each example and its right
    class, so that y = 1 and p is that class's probability; the mean over the examples.
    """
    # Logarithms: the derivative of (1 - p) ** alpha has no bound where p is rounded to 1.
    right = functional.one_hot(targets, scores.shape[1]).bool()
    total = scores.logsumexp(1)
    probability = scores.masked_fill(~right, 0.0).sum(1) - total
    complement = scores.masked_fill(right, -torch.inf).logsumexp(1) - total
    weighed = torch.exp(DICE_ALPHA * complement + probability)
    return (1 - (2 * weighed + DICE_GAMMA) / (weighed + 1 + DICE_GAMMA)).mean()

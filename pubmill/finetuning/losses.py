"""Losses, unweighted and for imbalanced labels (shin2020 section 5.5)."""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

DICE_ALPHA = 0.01
"""Exponent of 1 - p in the dice loss, as in the authors' scripts. The loss has its minimum at p = 1 / (1 +
alpha), so alpha 1 would hold the probability of the right class at one half."""
DICE_GAMMA = 1.0
"""Smoothing of the dice loss (Li et al. 2019 section 3.3)."""

Name = Literal["cross-entropy", "weighted", "dice"]
IGNORED = -100
"""Target without a loss in `torch.nn.functional.cross_entropy`."""


def class_weights(counts: Sequence[int]) -> list[float]:
    """Return class weights in inverse proportion to the number of examples, over which their mean is 1. A
    class without examples has weight 0, which is never used."""
    present = sum(count > 0 for count in counts)
    return [sum(counts) / (present * count) if count else 0.0 for count in counts]


def label_weights(counts: Sequence[int], examples: int) -> list[list[float]]:
    """Return the weights of absence and presence (2 x labels), from the number of `examples` with each label.
    Each label is a binary classification with its own `class_weights`."""
    pairs = [class_weights([examples - count, count]) for count in counts]
    return [[pair[side] for pair in pairs] for side in (0, 1)]


def classification_loss(name: Name, scores: Tensor, targets: Tensor, weights: Tensor | None) -> Tensor:
    """Return the mean loss of scores (n x classes) and classes (n, int64).

    With "weighted", `weights` (one per class, on the scores' device) multiply the cross-entropy of examples
    of that class. The sum is divided by n, not by the sum of the weights: otherwise a batch with a single
    class would not be weighted at all.
    """
    if name == "dice":
        return dice_loss(scores, targets)
    if name == "cross-entropy":
        return functional.cross_entropy(scores, targets)
    assert weights is not None
    return functional.cross_entropy(scores, targets, weight=weights, reduction="sum") / len(targets)


def multilabel_loss(scores: Tensor, targets: Tensor, weights: Tensor | None) -> Tensor:
    """Return the mean binary cross-entropy of scores and targets (both n x labels; targets 0.0 or 1.0),
    multiplied by `weights` (2 x labels: absence, presence; from `label_weights`), if there are any."""
    chosen = None if weights is None else torch.where(targets > 0.5, weights[1], weights[0])
    return functional.binary_cross_entropy_with_logits(scores, targets, weight=chosen)


def dice_loss(scores: Tensor, targets: Tensor) -> Tensor:
    """Return the self-adjusting dice loss (Li et al. 2019, arXiv 1911.02855, section 3.3) of scores (n x
    classes).

    1 - (2 q y + gamma) / (q + y + gamma) with q = (1 - p) ** alpha * p, for each example's right class, so
    that y = 1 and p is the probability of that class; the mean over the examples.
    """
    # With logarithms, because the derivative of (1 - p) ** alpha is unbounded where p is rounded to 1.
    right = functional.one_hot(targets, scores.shape[1]).bool()
    total = scores.logsumexp(1)
    probability = scores.masked_fill(~right, 0.0).sum(1) - total
    complement = scores.masked_fill(right, -torch.inf).logsumexp(1) - total
    weighed = torch.exp(DICE_ALPHA * complement + probability)
    return (1 - (2 * weighed + DICE_GAMMA) / (weighed + 1 + DICE_GAMMA)).mean()

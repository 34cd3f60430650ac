"""Cross entropy over a large vocabulary."""

from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from pubmill.pretraining.instances import UNLABELLED
from pubmill.pretraining.unpadded import compiled

IN_CACHE = 1 << 18
"""Number of logits that a processor handles at a time: a megabyte in float32."""


def cross_entropy(logits: Tensor, labels: Tensor, compiled: bool = False) -> tuple[Tensor, Tensor]:
    """Return the summed loss, in float32, and the number of labels that have the largest logit.

    `logits` (positions, vocabulary) have any floating type, and so has their gradient. A position with the
    label `UNLABELLED` has no loss. A processor handles a few positions at a time, in one buffer, and computes
    softmax again for the gradient: torch's own function spends most of its time on memory allocation.
    `compiled` functions on a GPU read the logits once forward and once backward.
    """
    if logits.device.type != "cpu" and not compiled:
        return cross_entropy_at_once(logits, labels)
    function = _FusedCrossEntropy if compiled else _CrossEntropy
    loss, right = function.apply(logits, labels)  # type: ignore[no-untyped-call]
    return loss, right


def cross_entropy_at_once(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return the same by torch's functions, over all positions at once."""
    loss = F.cross_entropy(logits.float(), labels, reduction="sum")
    return loss, (logits.argmax(-1) == labels).sum()


class _FusedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        loss, correct, total = compiled(sums_of_logits, dynamic=True)(logits, labels)
        ctx.save_for_backward(logits, labels, total)
        ctx.mark_non_differentiable(correct)
        return loss, correct

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor, None]:
        logits, labels, total = ctx.saved_tensors
        return compiled(gradient_of_logits, dynamic=True)(logits, labels, total, slopes[0]), None


def sums_of_logits(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the loss, the number of right predictions, the logarithm of each row's sum of exponentials."""
    wide, correct = logits.float(), (logits.argmax(-1) == labels).sum()
    total = wide.logsumexp(-1)
    losses = total - wide.gather(-1, labels.clamp_min(0)[:, None])[:, 0]
    return torch.where(labels == UNLABELLED, 0.0, losses).sum(), correct, total


def gradient_of_logits(logits: Tensor, labels: Tensor, total: Tensor, slope: Tensor) -> Tensor:
    """Return the gradient: softmax minus one at the label, times the slope of the loss."""
    share = (logits.float() - total[:, None]).exp()
    at_label = torch.arange(logits.shape[-1], device=logits.device) == labels[:, None]
    slopes = torch.where(labels[:, None] == UNLABELLED, 0.0, share - at_label.float())
    return (slope * slopes).to(logits.dtype)


class _CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(logits, labels)
        losses, right = torch.empty(len(labels)), torch.zeros(len(labels), dtype=torch.bool)
        for rows, some, share in _chunks(logits):
            labelled = some.gather(-1, labels[rows, None].clamp_min(0))[:, 0]
            most = some.amax(-1)
            # The largest probability is never 0; the label's may be.
            losses[rows] = most - labelled - torch.softmax(some, -1, out=share).amax(-1).log_()
            # Among equal logits the first one counts; searching is slow, and not needed where one is larger.
            (equal,) = (labelled == most).nonzero(as_tuple=True)
            right[rows][equal] = some[equal].argmax(-1) == labels[rows][equal]
        losses[labels == UNLABELLED] = 0.0
        correct = right.sum()
        ctx.mark_non_differentiable(correct)
        return losses.sum(), correct

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor, None]:
        logits, labels = ctx.saved_tensors
        gradient = torch.empty_like(logits)
        for rows, some, share in _chunks(logits):
            torch.softmax(some, -1, out=share)
            share.scatter_add_(-1, labels[rows, None].clamp_min(0), torch.full((len(share), 1), -1.0))
            gradient[rows] = share.mul_(slopes[0])
        gradient[labels == UNLABELLED] = 0.0
        return gradient, None


def _chunks(logits: Tensor) -> Iterator[tuple[slice, Tensor, Tensor]]:
    """Yield a few positions at a time, with their logits in float32 and a buffer of the same size."""
    size = logits.shape[-1]
    count = max(1, IN_CACHE // size)
    some, room = torch.empty(count, size), torch.empty(count, size)
    for begin in range(0, len(logits), count):
        part = logits[begin : begin + count]
        yield slice(begin, begin + len(part)), some[: len(part)].copy_(part), room[: len(part)]

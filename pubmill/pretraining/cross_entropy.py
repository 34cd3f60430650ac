"""Cross entropy over a large vocabulary."""

from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

IN_CACHE = 1 << 18
"""Logits that a processor works on at a time: a megabyte of them in float32."""


def cross_entropy(logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """The summed loss, in float32, and how many labels are the likeliest choice.

    `logits` (positions, vocabulary) are of any floating type, and so is their gradient. On a processor they
    are taken a few positions at a time, in one buffer, and softmax is worked out anew for the gradient:
    most of the time of torch's own goes to memory that is asked for again and again.
    """
    if logits.device.type != "cpu":
        loss = F.cross_entropy(logits.float(), labels, reduction="sum")
        return loss, (logits.argmax(-1) == labels).sum()
    loss, right = _CrossEntropy.apply(logits, labels)  # type: ignore[no-untyped-call]
    return loss, right


class _CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(logits, labels)
        losses, right = torch.empty(len(labels)), torch.zeros(len(labels), dtype=torch.bool)
        for rows, some, share in _few(logits):
            labelled = some.gather(-1, labels[rows, None])[:, 0]
            most = some.amax(-1)
            # the largest share is never 0; that of the label may be
            losses[rows] = most - labelled - torch.softmax(some, -1, out=share).amax(-1).log_()
            # of equal logits the first is the choice; to search is slow, and without need where one is larger
            (equal,) = (labelled == most).nonzero(as_tuple=True)
            right[rows][equal] = some[equal].argmax(-1) == labels[rows][equal]
        correct = right.sum()
        ctx.mark_non_differentiable(correct)
        return losses.sum(), correct

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor, None]:
        logits, labels = ctx.saved_tensors
        gradient = torch.empty_like(logits)
        for rows, some, share in _few(logits):
            torch.softmax(some, -1, out=share)
            share.scatter_add_(-1, labels[rows, None], torch.full((len(share), 1), -1.0))
            gradient[rows] = share.mul_(slopes[0])
        return gradient, None


def _few(logits: Tensor) -> Iterator[tuple[slice, Tensor, Tensor]]:
    """A few positions at a time: which they are, their logits in float32, and room for as many numbers."""
    count, size = max(1, IN_CACHE // logits.shape[-1]), logits.shape[-1]
    some, room = torch.empty(count, size), torch.empty(count, size)
    for begin in range(0, len(logits), count):
        part = logits[begin : begin + count]
        yield slice(begin, begin + len(part)), some[: len(part)].copy_(part), room[: len(part)]

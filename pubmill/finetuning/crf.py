"""Linear-chain conditional random field over label scores (gu2020 section 5.2; Lafferty et al. 2001)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from pubmill.finetuning.inputs import Batch
from pubmill.hardware.torch_setup import to_device


class LinearChain(nn.Module):
    """Learnt scores of label transitions and of first and last labels, in float32.

    `scores` (rows x labels) and labels (rows) contain all instances, one after another; `counts` has the
    number of rows of each instance, at least one. All transition scores start as 0, which makes labels
    independent of each other; no transition is forbidden.
    """

    def __init__(self, labels: int) -> None:
        super().__init__()
        self.transitions = nn.Parameter(torch.zeros(labels, labels))  # from the row's label to the column's
        self.start = nn.Parameter(torch.zeros(labels))
        self.end = nn.Parameter(torch.zeros(labels))

    def forward(self, scores: torch.Tensor, counts: Sequence[int], labels: torch.Tensor) -> torch.Tensor:
        """Return the negative log-likelihood of the instances' labels, summed and divided by the number of
        rows.

        Dividing by rows, as cross-entropy does, makes one learning rate suitable for heads with and without a
        CRF.
        """
        layout = _layout(counts, scores.device)
        total = self._partitions(scores, layout).sum() - self._score(scores, layout, labels)
        return total / len(scores)

    def decode(self, scores: torch.Tensor, counts: Sequence[int]) -> torch.Tensor:
        """Return the most likely labels of each instance (Viterbi), one per row."""
        layout = _layout(counts, scores.device)
        first, *others = layout.padded(scores).unbind(1)
        itself = torch.arange(scores.shape[1], device=scores.device)
        best, origins = self.start + first, []
        for step, there in zip(others, layout.present.unbind(1)[1:], strict=True):
            value, origin = (best.unsqueeze(2) + self.transitions).max(1)
            best = torch.where(there, value + step, best)
            origins.append(torch.where(there, origin, itself))  # after an instance's end: nothing changes
        path = [(best + self.end).argmax(1)]
        for origin in reversed(origins):
            path.append(origin.gather(1, path[-1].unsqueeze(1)).squeeze(1))
        return torch.stack(path[::-1], 1).flatten().index_select(0, layout.rows)

    def marginals(self, scores: torch.Tensor, counts: Sequence[int]) -> torch.Tensor:
        """Return the probability of every label of each row over all labellings of its instance: the gradient
        of the logarithm of their sum."""
        with torch.inference_mode(False), torch.enable_grad():
            given = scores.detach().float().clone().requires_grad_()
            total = self._partitions(given, _layout(counts, given.device)).sum()
            [gradient] = torch.autograd.grad(total, given)
        return gradient

    def _partitions(self, scores: torch.Tensor, layout: "_Layout") -> torch.Tensor:
        """Return, for each instance, the logarithm of the sum over all labellings (forward algorithm)."""
        first, *others = layout.padded(scores).unbind(1)
        forward = self.start + first
        for step, there in zip(others, layout.present.unbind(1)[1:], strict=True):
            longer = (forward.unsqueeze(2) + self.transitions).logsumexp(1) + step
            forward = torch.where(there, longer, forward)
        return (forward + self.end).logsumexp(1)

    def _score(self, scores: torch.Tensor, layout: "_Layout", labels: torch.Tensor) -> torch.Tensor:
        """Return the summed score of the given labels of all instances."""
        later = layout.later
        return (
            scores.gather(1, labels.unsqueeze(1)).sum()
            + self.start[labels[layout.first]].sum()
            + self.transitions[labels[later - 1], labels[later]].sum()
            + self.end[labels[layout.last]].sum()
        )


class ChainHead(nn.Module):
    """Head on tokens whose scores are decoded by a `LinearChain`; `forward` returns the scores."""

    def __init__(self, scorer: nn.Module, labels: int) -> None:
        super().__init__()
        self.scorer = scorer
        self.chain = LinearChain(labels)

    def forward(self, places: torch.Tensor, batch: Batch) -> torch.Tensor:
        scores: torch.Tensor = self.scorer(places, batch)
        return scores


@dataclass(frozen=True, slots=True)
class _Layout:
    """Positions of the rows of all instances in an array of instances x longest.

    `present` (instances x longest x 1): where a row exists. `rows`: index of each row in the flattened
    instances x longest. `first`, `last`: first and last row of each instance; `later`: all rows except first
    ones.
    """

    present: torch.Tensor
    rows: torch.Tensor
    first: torch.Tensor
    last: torch.Tensor
    later: torch.Tensor

    def padded(self, scores: torch.Tensor) -> torch.Tensor:
        """Return the rows as instances x longest x labels, with 0 where there is no row."""
        instances, longest, _ = self.present.shape
        empty = scores.new_zeros(instances * longest, scores.shape[1])
        return empty.index_copy(0, self.rows, scores).view(instances, longest, -1)


def _layout(counts: Sequence[int], device: torch.device) -> _Layout:
    # The lengths are on the CPU, so this does not wait for the GPU.
    lengths = np.asarray(counts)
    present = np.arange(lengths.max()) < lengths[:, None]
    ends = lengths.cumsum()
    parts = (
        present[:, :, None],
        np.flatnonzero(present),
        ends - lengths,
        ends - 1,
        np.delete(np.arange(ends[-1]), ends - lengths),
    )
    return _Layout(*(to_device(torch.from_numpy(part), device) for part in parts))

"""A linear-chain conditional random field on scores of labels (gu2020 section 5.2; Lafferty et al. 2001)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from pubmill.finetuning.inputs import Batch


class LinearChain(nn.Module):
    """How well one label follows another, and begins and ends an instance: learnt, in float32.

    `scores` (rows x labels) and labels (rows) are those of all instances, one after another; `counts` are the
    rows of each instance, at least one. All transitions begin as 0, where the likelihood is that of labels
    that don't depend on each other; none is forbidden.
    """

    def __init__(self, labels: int) -> None:
        super().__init__()
        self.transitions = nn.Parameter(torch.zeros(labels, labels))  # from the row's label to the column's
        self.start = nn.Parameter(torch.zeros(labels))
        self.end = nn.Parameter(torch.zeros(labels))

    def forward(self, scores: torch.Tensor, counts: Sequence[int], labels: torch.Tensor) -> torch.Tensor:
        """Negative log-likelihood of the instances' labels, summed and divided by the number of rows.

        Per row, as a cross-entropy is, so that one learning rate suits heads with and without it.
        """
        layout = _layout(counts, scores.device)
        total = self._partitions(scores, layout).sum() - self._score(scores, layout, labels)
        return total / len(scores)

    def decode(self, scores: torch.Tensor, counts: Sequence[int]) -> torch.Tensor:
        """The likeliest labels of each instance (Viterbi), a number for each row."""
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

    def _partitions(self, scores: torch.Tensor, layout: "_Layout") -> torch.Tensor:
        """For each instance the logarithm of the sum over all its labellings (the forward algorithm)."""
        first, *others = layout.padded(scores).unbind(1)
        forward = self.start + first
        for step, there in zip(others, layout.present.unbind(1)[1:], strict=True):
            longer = (forward.unsqueeze(2) + self.transitions).logsumexp(1) + step
            forward = torch.where(there, longer, forward)
        return (forward + self.end).logsumexp(1)

    def _score(self, scores: torch.Tensor, layout: "_Layout", labels: torch.Tensor) -> torch.Tensor:
        """The score of the labels given, all instances together."""
        later = layout.later
        return (
            scores.gather(1, labels.unsqueeze(1)).sum()
            + self.start[labels[layout.first]].sum()
            + self.transitions[labels[later - 1], labels[later]].sum()
            + self.end[labels[layout.last]].sum()
        )


class ChainHead(nn.Module):
    """A head on tokens whose scores a `LinearChain` reads; `forward` gives the scores alone."""

    def __init__(self, scorer: nn.Module, labels: int) -> None:
        super().__init__()
        self.scorer = scorer
        self.chain = LinearChain(labels)

    def forward(self, places: torch.Tensor, batch: Batch) -> torch.Tensor:
        scores: torch.Tensor = self.scorer(places, batch)
        return scores


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where instances of several lengths, one after another, stand in instances x longest.

    `present` (instances x longest x 1): where there is a row. `rows`: the place of each row in the flattened
    instances x longest. `first`, `last`: each instance's first and last row; `later`: all but the first.
    """

    present: torch.Tensor
    rows: torch.Tensor
    first: torch.Tensor
    last: torch.Tensor
    later: torch.Tensor

    def padded(self, scores: torch.Tensor) -> torch.Tensor:
        """Instances x longest x labels, 0 where there is no row."""
        instances, longest, _ = self.present.shape
        empty = scores.new_zeros(instances * longest, scores.shape[1])
        return empty.index_copy(0, self.rows, scores).view(instances, longest, -1)


def _layout(counts: Sequence[int], device: torch.device) -> _Layout:
    # From lengths that the CPU has: a GPU need not be waited for.
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
    return _Layout(*(torch.from_numpy(part).to(device, non_blocking=True) for part in parts))

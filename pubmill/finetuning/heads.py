"""Heads on an encoder (gu2020 sections 5.1, 5.2, Tables 10 and 12; shin2020 Tables 1 and 2)."""

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from pubmill.finetuning.encoders import Block, forward
from pubmill.finetuning.inputs import Batch
from pubmill.hardware.torch_setup import to_device
from pubmill.recipes import FinetuningRecipe

if TYPE_CHECKING:
    from transformers import PreTrainedModel

Rows = npt.NDArray[np.int64]


class TaskModel(nn.Module):
    """An encoder with a head that scores the encodings at a batch's places."""

    def __init__(self, encoder: "PreTrainedModel", head: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = head

    def forward(self, batch: Batch) -> Tensor:
        """Return the scores (float32); the task's head defines the number of rows."""
        return self.score(self.encode(batch.inputs, batch.blocks), batch)

    def encode(self, inputs: Tensor, blocks: Sequence[Block] | None = None) -> Tensor:
        """Return the encodings (instances x width x size) of a batch's `inputs`, which may be `blocks`."""
        if self.encoder.dtype == torch.float32:
            return forward(self.encoder, inputs, blocks)
        # Autocast would compute norms and residuals of a bfloat16 encoder in float32.
        with torch.autocast(inputs.device.type, enabled=False):
            return forward(self.encoder, inputs)

    def score(self, encodings: Tensor, batch: Batch) -> Tensor:
        """Return the scores (float32) of the encodings at the batch's places."""
        scores: Tensor = self.head(batch.read(encodings), batch)
        return scores.float()


class Layers(nn.Module):
    """Dropout, then any number of fully connected ReLU layers and a linear layer (shin2020 Tables 1 and 2, in
    the order of NVIDIA/NeMo@246e40f nemo/collections/nlp/modules/common/token_classifier.py)."""

    def __init__(self, width: int, outputs: int, recipe: FinetuningRecipe) -> None:
        super().__init__()
        widths = [width, *recipe.head_sizes]
        hidden = [(linear(before, after), nn.ReLU()) for before, after in pairwise(widths)]
        self.dropout = nn.Dropout(recipe.head_dropout)
        self.hidden = nn.Sequential(*chain.from_iterable(hidden))
        self.linear = linear(widths[-1], outputs)

    def forward(self, places: Tensor, batch: Batch) -> Tensor:
        return in_float32(self.linear, self.hidden(self.dropout(places)))


class PoolerLayers(nn.Module):
    """transformers' head for texts: a layer of the encoder's width with tanh, dropout and a linear layer. The
    first layer is new, with dropout before it, as in RoBERTa; or `start_from` replaces it by the pooler of an
    encoder that learnt next-sentence prediction, without that dropout, as in BERT."""

    def __init__(self, width: int, outputs: int, recipe: FinetuningRecipe) -> None:
        super().__init__()
        self.first = nn.Dropout(recipe.head_dropout)
        self.dense = linear(width, width)
        self.dropout = nn.Dropout(recipe.head_dropout)
        self.linear = linear(width, outputs)

    def start_from(self, pooler: nn.Linear) -> None:
        """Start with the weights of a pretrained pooler, which reads the encodings without dropout."""
        self.dense.load_state_dict(pooler.state_dict())
        self.first.p = 0.0

    def forward(self, places: Tensor, batch: Batch) -> Tensor:
        return in_float32(self.linear, self.dropout(torch.tanh(self.dense(self.first(places)))))


def linear(before: int, after: int) -> nn.Linear:
    """Return a linear layer with BERT's initialisation."""
    layer = nn.Linear(before, after)
    nn.init.normal_(layer.weight, std=0.02)
    nn.init.zeros_(layer.bias)
    return layer


def in_float32(layer: nn.Linear, rows: Tensor) -> Tensor:
    """Return a layer's scores: bfloat16 has so few values that many would tie, and ties decide answers."""
    with torch.autocast(rows.device.type, enabled=False):
        scores: Tensor = layer(rows.float())
    return scores


class Concatenated(nn.Module):
    """Head on the concatenated encodings of the mentions of an instance; `each`: their number. With
    `pooling`, the encodings of each mention (a group of the batch) are first pooled to one."""

    def __init__(self, each: int, pooling: Literal["max", "average"] | None, layers: nn.Module) -> None:
        super().__init__()
        self.each, self.pooling, self.layers = each, pooling, layers

    def forward(self, places: Tensor, batch: Batch) -> Tensor:
        """Return the scores, instances x outputs."""
        if self.pooling is not None:
            assert batch.groups is not None
            places = pooled(places, batch.groups, self.pooling)
        scores: Tensor = self.layers(places.reshape(-1, self.each * places.shape[1]), batch)
        return scores


def pooled(rows: Tensor, lengths: Sequence[int], how: Literal["max", "average", "logsumexp"]) -> Tensor:
    """Return the maximum, mean or log of the sum of exponentials, per column, of each run of rows. `rows`:
    sum of `lengths` x width; `lengths`: lengths of consecutive runs, at least 1. Returns runs x width. The
    runs are padded and masked instead of summed by index, so that all devices give the same bits."""
    sizes = np.asarray(lengths, dtype=np.int64)
    columns = np.arange(sizes.max())
    starts = np.cumsum(sizes) - sizes
    real = columns < sizes[:, None]
    at = np.where(real, starts[:, None] + columns, starts[:, None])
    padding = to_device(torch.from_numpy(~real[:, :, None]), rows.device)
    grid = _rows(rows, at.ravel()).view(*real.shape, -1)
    if how != "average":
        padded = grid.masked_fill(padding, -torch.inf)
        return padded.amax(1) if how == "max" else padded.logsumexp(1)
    counts = to_device(torch.from_numpy(sizes[:, None]), rows.device).to(rows.dtype)
    return grid.masked_fill(padding, 0.0).sum(1) / counts


class BiLstm(nn.Module):
    """A BiLSTM over the encodings of each instance, in order, and a linear layer. The recipe's `head_sizes`
    has the size of each direction; each of the two layers is preceded by dropout. Instances are packed, so
    that neither padding nor other instances influence the result.

    The states at all encodings are scored; with `whole`, the last states of both directions, for a label of
    the whole instance. Relations in Table 10 have such a head, without details in the paper. Our choice: all
    tokens are read, and the last states are scored.
    """

    def __init__(self, width: int, outputs: int, recipe: FinetuningRecipe, whole: bool = False) -> None:
        super().__init__()
        self.whole = whole
        [size] = recipe.head_sizes
        self.dropout = nn.Dropout(recipe.head_dropout)
        self.lstm = nn.LSTM(width, size, bidirectional=True)
        self.linear = linear(2 * size, outputs)

    def forward(self, places: Tensor, batch: Batch) -> Tensor:
        """Return the scores (float32), one row for each encoding or instance."""
        order, packed, sizes = packing(batch.counts)
        # In float32: rounding errors would accumulate over the steps.
        with torch.autocast(places.device.type, enabled=False):
            encodings = _rows(self.dropout(places.float()), packed)
            states, (last, _) = self.lstm(PackedSequence(encodings, torch.from_numpy(sizes)))
            if self.whole:  # `last`: directions x instances x size
                read = _rows(last.transpose(0, 1), np.argsort(order)).flatten(1)
            else:
                read = _rows(states.data, np.argsort(packed))
            scores: Tensor = self.linear(self.dropout(read))
        return scores


def packing(counts: Sequence[int]) -> tuple[Rows, Rows, Rows]:
    """Return the order of instances from long to short, the order of their rows, first rows first, and the
    number of instances that have a first row, a second row and so on. Computed from the lengths on the host:
    torch's own packing copies them to a GPU and waits for it."""
    lengths = np.asarray(counts, dtype=np.int64)
    starts = np.cumsum(lengths) - lengths
    order = longest_first(counts)
    present = np.arange(lengths.max())[:, None] < lengths[order]
    rows = (starts[order] + np.arange(lengths.max())[:, None])[present]
    return order, rows, present.sum(1)


def longest_first(counts: Sequence[int]) -> Rows:
    """Return the order of instances from long to short; among equals, as in torch's own packing."""
    order: Rows = torch.sort(torch.tensor(counts), descending=True).indices.numpy()
    return order


def _rows(values: Tensor, rows: Rows) -> Tensor:
    return values.index_select(0, to_device(torch.from_numpy(rows), values.device))


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

    def forward(self, scores: Tensor, counts: Sequence[int], labels: Tensor) -> Tensor:
        """Return the negative log-likelihood of the instances' labels, summed and divided by the number of
        rows, as in cross-entropy, so that one learning rate suits heads with and without a CRF."""
        layout = _Layout(counts, scores.device)
        total = self._partitions(scores, layout).sum()
        steps = self.transitions[labels[layout.later - 1], labels[layout.later]].sum()
        start, end = self.start[labels[layout.first]].sum(), self.end[labels[layout.last]].sum()
        given = scores.gather(1, labels.unsqueeze(1)).sum() + start + steps + end
        return (total - given) / len(scores)

    def decode(self, scores: Tensor, counts: Sequence[int]) -> Tensor:
        """Return the most likely labels of each instance (Viterbi), one per row."""
        layout = _Layout(counts, scores.device)
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

    def marginals(self, scores: Tensor, counts: Sequence[int]) -> Tensor:
        """Return the marginal probability of each label at each row (rows x labels): the gradient of the log
        partition function with respect to the scores."""
        with torch.inference_mode(False), torch.enable_grad():
            given = scores.detach().float().clone().requires_grad_()
            total = self._partitions(given, _Layout(counts, given.device)).sum()
            [gradient] = torch.autograd.grad(total, given)
        return gradient

    def _partitions(self, scores: Tensor, layout: "_Layout") -> Tensor:
        """Return, for each instance, the logarithm of the sum over all labellings (forward algorithm)."""
        first, *others = layout.padded(scores).unbind(1)
        forward = self.start + first
        for step, there in zip(others, layout.present.unbind(1)[1:], strict=True):
            longer = (forward.unsqueeze(2) + self.transitions).logsumexp(1) + step
            forward = torch.where(there, longer, forward)
        return (forward + self.end).logsumexp(1)


class ChainHead(nn.Module):
    """Head on tokens whose scores are decoded by a `LinearChain`; `forward` returns the scores."""

    def __init__(self, scorer: nn.Module, labels: int) -> None:
        super().__init__()
        self.scorer = scorer
        self.chain = LinearChain(labels)

    def forward(self, places: Tensor, batch: Batch) -> Tensor:
        scores: Tensor = self.scorer(places, batch)
        return scores


class _Layout:
    """Positions of the rows of all instances in an array of instances x longest. `present` (instances x
    longest x 1): where a row exists. `rows`: index of each row in the flattened instances x longest. `first`,
    `last`: first and last row of each instance; `later`: all other than first."""

    def __init__(self, counts: Sequence[int], device: torch.device) -> None:
        lengths = np.asarray(counts)
        present = np.arange(lengths.max()) < lengths[:, None]
        ends = lengths.cumsum()
        starts = ends - lengths
        later = np.delete(np.arange(ends[-1]), starts)
        parts = (present[:, :, None], np.flatnonzero(present), starts, ends - 1, later)
        # The lengths are on the CPU, so this does not wait for the GPU.
        tensors = [to_device(torch.from_numpy(part), device) for part in parts]
        self.present, self.rows, self.first, self.last, self.later = tensors

    def padded(self, scores: Tensor) -> Tensor:
        """Return the rows as instances x longest x labels, with 0 where there is no row."""
        instances, longest, _ = self.present.shape
        empty = scores.new_zeros(instances * longest, scores.shape[1])
        return empty.index_copy(0, self.rows, scores).view(instances, longest, -1)

"""What the model reads at each step: instances cut from packed documents.

The documents are cut once into chunks of consecutive sentences, none of which reaches into another
document; every token of the corpus is in exactly one chunk, and an epoch is a seeded permutation of the
chunks. The batch of a step is a pure function of the corpus, the recipe's numbers and the step, so nothing
has to be saved for a restart.

With next-sentence prediction (Devlin et al. 2019, section 3.1; gu2020 section 2.3) a chunk is cut at a
sentence into A and B, and about half of the instances take the B of another document instead of their own.
A chunk of one sentence stays whole, as A alone, and has no label. For sentence-order prediction (Lan et al.
2020, section 3.1), about half of the instances have A and B exchanged.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pubmill.errors import PubmillError
from pubmill.recipes import PretrainingRecipe

Ints = NDArray[np.int64]
IS_NEXT, RANDOM, UNLABELLED = 0, 1, -100
IN_ORDER, SWAPPED = 0, 1
TOGETHER = 256


class Packed(Protocol):
    """Packed documents, as `pubmill.pretraining.tokens.PackedTokens` reads them."""

    ids: NDArray[Any]
    sentences: Ints
    documents: Ints
    special: dict[str, int]


class Stream(IntEnum):
    """The independent random streams of a run."""

    ORDER, PAIRS, MASKS, DROPOUT, HELD_OUT = range(5)


def seed_sequence(seed: int, stream: Stream, *numbers: int) -> np.random.SeedSequence:
    """The seed of one stream at one step (or epoch, and rank)."""
    return np.random.SeedSequence([seed, stream, *numbers])


def generator(seed: int, stream: Stream, *numbers: int) -> np.random.Generator:
    """The generator of one stream at one step or epoch."""
    return np.random.Generator(np.random.PCG64(seed_sequence(seed, stream, *numbers)))


@dataclass(frozen=True)
class PackedBatch:
    """Sequences laid end to end: `ids` and `segments` (tokens,), `lengths` and `pair_labels` (sequences,).

    `pair_labels` is 0 where B follows A, 1 where B is from another document (or the two are in the wrong
    order), -100 where there is no B or no label.
    `inner` (tokens,) is true but for [CLS] and [SEP]. `cut` counts the tokens of B left out for want of room.
    """

    ids: Ints
    segments: Ints
    inner: NDArray[np.bool_]
    lengths: Ints
    pair_labels: Ints
    cut: int


def ranges(starts: Ints, lengths: Ints) -> Ints:
    """The numbers start, start + 1, ... of each range, one after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(total)


def chunk_starts(sentences: Ints, documents: Ints, limit: int) -> Ints:
    """Cut documents into chunks of at most `limit` tokens; return where each begins, and the end.

    A chunk holds as many whole sentences as fit; a sentence longer than `limit` is cut where the chunk is
    full and continues in the next. Works on one chunk of every document at a time.
    """
    here, ends = sentences[documents[:-1]], sentences[documents[1:]]
    found = []
    while len(here):
        found.append(here)
        whole = sentences[np.searchsorted(sentences, here + limit, side="right") - 1]
        following = np.minimum(np.where(whole > here, whole, here + limit), ends)
        left = following < ends
        here, ends = following[left], ends[left]
    return np.sort(np.concatenate([*found, sentences[-1:]]))


def full_starts(sentences: Ints, documents: Ints, limit: int) -> Ints:
    """Cut a corpus into chunks of at most `limit` tokens that reach over documents.

    A separator is counted after each document, and the chunks' starts (and the end) are in these terms: the
    first token of document d has the number sentences[documents[d]] + d. No chunk begins with a separator:
    the one that closes its sequence anyway may come on top of the limit. To work on many chunks at a time,
    every `TOGETHER`-th document begins a chunk.
    """
    number = np.repeat(np.arange(len(documents) - 1), np.diff(documents))
    counted = np.append(sentences[:-1] + number, sentences[-1] + len(documents) - 1)
    starts = chunk_starts(counted, np.append(documents[:-1:TOGETHER], documents[-1]), limit)
    separators = sentences[documents[1:]] + np.arange(len(documents) - 1)
    return np.unique(starts + np.isin(starts, separators))


class Instances:
    """The batches of a pretraining over packed documents.

    The recipe's `sequence_length` counts [CLS] and [SEP]; its `batch_size` is that of the whole run, whatever
    the number of processes. Raises `PubmillError` where the corpus is empty or the sequences leave no room
    for tokens.
    """

    def __init__(self, packed: Packed, recipe: PretrainingRecipe) -> None:
        self.pairs, self.full = recipe.objective.pairs, recipe.objective.sequences == "full"
        self.limit = recipe.sequence_length - (2 if self.pairs == "none" else 3)
        if self.limit < 2 or len(packed.ids) == 0:
            raise PubmillError(
                f"nothing to pretrain on: {len(packed.ids)} packed tokens, sequences of "
                f"{recipe.sequence_length}"
            )
        self.ids = packed.ids
        self.sentences, documents = np.asarray(packed.sentences), np.asarray(packed.documents)
        self.document_starts = self.sentences[documents[:-1]]
        self.starts = (
            full_starts(self.sentences, documents, self.limit)
            if self.full
            else chunk_starts(self.sentences, documents, self.limit)
        )
        self.cls, self.sep = packed.special["cls"], packed.special["sep"]
        self.batch_size, self.seed = recipe.batch_size, recipe.seed
        self._orders: dict[int, Ints] = {}

    def __len__(self) -> int:
        """The number of instances in an epoch."""
        return len(self.starts) - 1

    def chunks(self, step: int) -> Ints:
        """The chunks of a step (from 0): the next `batch_size` of the epochs' permutations."""
        numbers = np.arange(step * self.batch_size, (step + 1) * self.batch_size)
        epochs = numbers // len(self)
        present = np.unique(epochs).tolist()
        self._orders = {epoch: self._order(epoch) for epoch in present}
        return np.concatenate(
            [self._orders[epoch][numbers[epochs == epoch] % len(self)] for epoch in present]
        )

    def _order(self, epoch: int) -> Ints:
        if epoch in self._orders:
            return self._orders[epoch]
        return generator(self.seed, Stream.ORDER, epoch).permutation(len(self))

    def batch(self, step: int) -> PackedBatch:
        """The whole batch of a step, from 0, whatever the number of processes."""
        return self.lay_out(self.chunks(step), generator(self.seed, Stream.PAIRS, step))

    def lay_out(self, chunks: Ints, random: np.random.Generator) -> PackedBatch:
        """Return some chunks as sequences, with the labels of their pairs."""
        start, end = self.starts[chunks], self.starts[chunks + 1]
        nothing = np.full(len(chunks), UNLABELLED)
        if self.full:
            return self._lay_out_across(start, end)
        if self.pairs == "none":
            return self._lay_out(start, end - start, end, end - end, nothing, 0)
        middle = self._cut_at_sentence(start, end, random.random(len(chunks)))
        if self.pairs == "next-sentence":
            return self._next_sentences(start, middle, end, random)
        if self.pairs == "unlabelled":
            return self._lay_out(start, middle - start, middle, end - middle, nothing, 0)
        swapped = (middle < end) & (random.random(len(chunks)) < 0.5)
        labels = np.where(middle < end, np.where(swapped, SWAPPED, IN_ORDER), UNLABELLED)
        first, second = np.where(swapped, middle, start), np.where(swapped, start, middle)
        n_first, n_second = (
            np.where(swapped, end - middle, middle - start),
            np.where(swapped, middle - start, end - middle),
        )
        return self._lay_out(first, n_first, second, n_second, labels, 0)

    def _next_sentences(
        self, start: Ints, middle: Ints, end: Ints, random: np.random.Generator
    ) -> PackedBatch:
        """A with its own B, or that of another document."""
        labels = np.where(middle < end, IS_NEXT, UNLABELLED)
        other = self._other_documents(
            start, end - middle, (labels == IS_NEXT) & (random.random(len(start)) < 0.5)
        )
        labels[other != np.arange(len(start))] = RANDOM
        second, room = middle[other], self.limit - (middle - start)
        length = np.minimum((end - middle)[other], room)
        return self._lay_out(
            start, middle - start, second, length, labels, int((end - middle).sum() - length.sum())
        )

    def _cut_at_sentence(self, start: Ints, end: Ints, where: NDArray[np.float64]) -> Ints:
        """A random start of a sentence inside each chunk; its end where there is only one sentence."""
        first = np.searchsorted(self.sentences, start, side="right")
        count = np.searchsorted(self.sentences, end, side="left") - first
        picked = self.sentences[np.minimum(first + (where * count).astype(np.int64), len(self.sentences) - 1)]
        return np.where(count > 0, picked, end)

    def _other_documents(self, start: Ints, length: Ints, chosen: NDArray[np.bool_]) -> Ints:
        """Whose B each instance takes: its own, or where `chosen` that of a partner, which takes its.

        Partners are neighbours by the length of B, so that next to nothing has to be cut off, and exchange,
        so that an epoch still shows every token once. Of two in the same document each keeps its own.
        """
        taken = np.arange(len(start))
        order = np.flatnonzero(chosen)
        order = order[np.argsort(length[order], kind="stable")]
        left, right = order[0 : len(order) // 2 * 2 : 2], order[1::2]
        document = np.searchsorted(self.document_starts, start, side="right")
        differ = document[left] != document[right]
        left, right = left[differ], right[differ]
        taken[left], taken[right] = right, left
        return taken

    def _lay_out(
        self, first: Ints, n_first: Ints, second: Ints, n_second: Ints, labels: Ints, cut: int
    ) -> PackedBatch:
        """Write `[CLS] A [SEP] B [SEP]`, or `[CLS] A [SEP]` where B is empty, one after the other."""
        lengths = n_first + 2 + np.where(n_second > 0, n_second + 1, 0)
        begin = np.cumsum(lengths) - lengths
        ids = np.full(int(lengths.sum()), self.sep, np.int64)
        segments, inner = np.zeros_like(ids), np.zeros(len(ids), bool)
        ids[begin] = self.cls
        in_first, in_second = ranges(begin + 1, n_first), ranges(begin + n_first + 2, n_second)
        ids[in_first] = self.ids[ranges(first, n_first)]
        ids[in_second] = self.ids[ranges(second, n_second)]
        inner[in_first] = inner[in_second] = True
        has_second = n_second > 0
        segments[ranges((begin + n_first + 2)[has_second], n_second[has_second] + 1)] = 1
        return PackedBatch(ids, segments, inner, lengths, labels, cut)

    def _lay_out_across(self, start: Ints, end: Ints) -> PackedBatch:
        """Write `[CLS] tokens [SEP] tokens [SEP]`, a piece for each document that a chunk reaches into.

        `start` and `end` count a separator after each document, see `full_starts`.
        """
        bounds = np.append(self.document_starts, len(self.ids)) + np.arange(len(self.document_starts) + 1)
        first = np.searchsorted(bounds, start, side="right") - 1
        pieces = np.searchsorted(bounds, end, side="left") - first
        document, owner = ranges(first, pieces), np.repeat(np.arange(len(start)), pieces)
        begin = np.maximum(bounds[document], start[owner])
        count = np.minimum(bounds[document + 1] - 1, end[owner]) - begin
        lengths = np.bincount(owner, count + 1, len(start)).astype(np.int64) + 1
        place = np.cumsum(count + 1) - (count + 1) + owner + 1
        ids = np.full(int(lengths.sum()), self.sep, np.int64)
        inner = np.zeros(len(ids), bool)
        ids[np.cumsum(lengths) - lengths] = self.cls
        where = ranges(place, count)
        ids[where] = self.ids[ranges(begin - document, count)]
        inner[where] = True
        return PackedBatch(ids, np.zeros_like(ids), inner, lengths, np.full(len(start), UNLABELLED), 0)


def micro_batches(lengths: Ints, size: int, rank: int = 0, world_size: int = 1) -> list[Ints]:
    """Which sequences of a batch one process works on together: at most `size`, of nearly equal length.

    Every sequence belongs to exactly one process; the longest come first.
    """
    mine = np.argsort(-lengths, kind="stable")[rank::world_size]
    return [mine[start : start + size] for start in range(0, len(mine), size)]

"""What the model reads at each step: instances cut from packed documents.

The documents are cut once into chunks of consecutive sentences, none of which reaches into another
document; every token of the corpus is in exactly one chunk, and an epoch is a seeded permutation of the
chunks. The batch of a step is a pure function of the corpus, the recipe's numbers and the step, so nothing
has to be saved for a restart.

With next-sentence prediction (Devlin et al. 2019, section 3.1; gu2020 section 2.3) a chunk is cut at a
sentence into A and B, and about half of the instances take the B of another document instead of their own.
A chunk of one sentence stays whole, as A alone, and has no label.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pubmill.errors import PubmillError

Ints = NDArray[np.int64]
IS_NEXT, RANDOM, UNLABELLED = 0, 1, -100


class Packed(Protocol):
    """Packed documents, as `pubmill.pretraining.tokens.PackedTokens` reads them."""

    ids: NDArray[Any]
    sentences: Ints
    documents: Ints
    special: dict[str, int]


class Stream(IntEnum):
    """The independent random streams of a run."""

    ORDER, PAIRS, MASKS, DROPOUT = range(4)


def seed_sequence(seed: int, stream: Stream, *numbers: int) -> np.random.SeedSequence:
    """The seed of one stream at one step (or epoch, and rank)."""
    return np.random.SeedSequence([seed, stream, *numbers])


def generator(seed: int, stream: Stream, *numbers: int) -> np.random.Generator:
    """The generator of one stream at one step or epoch."""
    return np.random.Generator(np.random.PCG64(seed_sequence(seed, stream, *numbers)))


@dataclass(frozen=True)
class Batch:
    """Sequences laid end to end: `ids` and `segments` (tokens,), `lengths` and `next_sentence` (sequences,).

    `next_sentence` is 0 where B follows A, 1 where B is from another document, -100 where there is no B.
    `inner` (tokens,) is true but for [CLS] and [SEP]. `cut` counts the tokens of B left out for want of room.
    """

    ids: Ints
    segments: Ints
    inner: NDArray[np.bool_]
    lengths: Ints
    next_sentence: Ints
    cut: int


def ranges(starts: Ints, lengths: Ints) -> Ints:
    """The numbers start, start + 1, ... of each range, one after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(total)


def chunk_starts(sentences: Ints, documents: Ints, limit: int) -> Ints:
    """Cut documents into chunks of at most `limit` tokens; return where each begins, and the end.

    A chunk holds as many whole sentences as fit; a sentence longer than `limit` is cut where the chunk is
    full and goes on in the next. Works on one chunk of every document at a time.
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


class Instances:
    """The batches of a pretraining over packed documents.

    `sequence_length` counts [CLS] and [SEP]; `batch_size` is that of the whole run, whatever the number of
    processes. Raises `PubmillError` where the corpus is empty or the sequences leave no room for tokens.
    """

    def __init__(
        self, packed: Packed, sequence_length: int, batch_size: int, next_sentence: bool, seed: int
    ) -> None:
        self.limit = sequence_length - (3 if next_sentence else 2)
        if self.limit < 2 or len(packed.ids) == 0:
            raise PubmillError(
                f"nothing to pretrain on: {len(packed.ids)} packed tokens, sequences of {sequence_length}"
            )
        self.ids = packed.ids
        self.sentences, documents = np.asarray(packed.sentences), np.asarray(packed.documents)
        self.starts = chunk_starts(self.sentences, documents, self.limit)
        self.document_starts = self.sentences[documents[:-1]]
        self.cls, self.sep = packed.special["cls"], packed.special["sep"]
        self.batch_size, self.next_sentence, self.seed = batch_size, next_sentence, seed
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

    def batch(self, step: int) -> Batch:
        """The whole batch of a step, from 0, whatever the number of processes."""
        chunks = self.chunks(step)
        start, end = self.starts[chunks], self.starts[chunks + 1]
        if not self.next_sentence:
            labels = np.full(len(chunks), UNLABELLED)
            return self._lay_out(start, end - start, end, end - end, labels, 0)
        random = generator(self.seed, Stream.PAIRS, step)
        middle = self._cut_at_sentence(start, end, random.random(len(chunks)))
        labels = np.where(middle < end, IS_NEXT, UNLABELLED)
        other = self._other_documents(
            start, end - middle, (labels == IS_NEXT) & (random.random(len(chunks)) < 0.5)
        )
        labels[other != np.arange(len(chunks))] = RANDOM
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
    ) -> Batch:
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
        return Batch(ids, segments, inner, lengths, labels, cut)


def micro_batches(lengths: Ints, size: int, rank: int = 0, world_size: int = 1) -> list[Ints]:
    """Which sequences of a batch one process works on together: at most `size`, of nearly equal length.

    Every sequence belongs to exactly one process; the longest come first.
    """
    mine = np.argsort(-lengths, kind="stable")[rank::world_size]
    return [mine[start : start + size] for start in range(0, len(mine), size)]

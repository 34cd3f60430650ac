"""Training instances of each step, cut from packed documents.

The documents are cut once into chunks of consecutive sentences, each from a single document. Every token of
the corpus is in exactly one chunk, and an epoch is a seeded permutation of the chunks. The batch of a step
depends only on the corpus, the recipe's numbers and the step, so nothing has to be saved for a restart.

For next-sentence prediction (Devlin et al. 2019, section 3.1; gu2020 section 2.3), a chunk is cut between two
sentences into A and B, and about half of the instances get the B of another document. A chunk of one sentence
stays whole, as A alone, without a label. For sentence-order prediction (Lan et al. 2020, section 3.1), A and
B are exchanged in about half of the instances.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from pubmill.errors import PubmillError
from pubmill.pretraining.packed_tokens import PackedTokens
from pubmill.recipes import PretrainingRecipe

Ints = NDArray[np.int64]
IS_NEXT, RANDOM, UNLABELLED = 0, 1, -100
IN_ORDER, SWAPPED = 0, 1
TOGETHER = 256


class Stream(IntEnum):
    """Independent random streams of a run."""

    ORDER, PAIRS, MASKS, DROPOUT, HELD_OUT = range(5)


def seed_sequence(seed: int, stream: Stream, *numbers: int) -> np.random.SeedSequence:
    """Return the seed of one stream at one step (or epoch, and rank)."""
    return np.random.SeedSequence([seed, stream, *numbers])


def generator(seed: int, stream: Stream, *numbers: int) -> np.random.Generator:
    """Return the generator of one stream at one step or epoch."""
    return np.random.Generator(np.random.PCG64(seed_sequence(seed, stream, *numbers)))


@dataclass(frozen=True)
class PackedBatch:
    """Concatenated sequences: `ids` and `segments` (tokens,), `lengths` and `pair_labels` (sequences,).
    `pair_labels`: 0 if B follows A, 1 if B is from another document (or the order is wrong), -100 without B
    or label. `inner` (tokens,): true except at [CLS] and [SEP]. `cut`: tokens of B that did not fit."""

    ids: Ints
    segments: Ints
    inner: NDArray[np.bool_]
    lengths: Ints
    pair_labels: Ints
    cut: int

    def take(self, sequences: Ints) -> "PackedBatch":
        """Return some of the sequences; `cut` is still that of all."""
        begin, lengths = (np.cumsum(self.lengths) - self.lengths)[sequences], self.lengths[sequences]
        tokens = ranges(begin, lengths)
        return PackedBatch(
            self.ids[tokens],
            self.segments[tokens],
            self.inner[tokens],
            lengths,
            self.pair_labels[sequences],
            self.cut,
        )


def ranges(starts: Ints, lengths: Ints) -> Ints:
    """Return the numbers start, start + 1, ... of each range, concatenated."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(total)


def chunk_starts(sentences: Ints, documents: Ints, limit: int) -> Ints:
    """Cut documents into chunks of at most `limit` tokens; return the start of each, and the end. A chunk
    holds as many whole sentences as fit. A sentence longer than `limit` is cut where the chunk is full and
    continues in the next one. One chunk of every document is computed at a time."""
    here, ends = sentences[documents[:-1]], sentences[documents[1:]]
    starts = []
    while len(here):
        starts.append(here)
        whole = sentences[np.searchsorted(sentences, here + limit, side="right") - 1]
        following = np.minimum(np.where(whole > here, whole, here + limit), ends)
        left = following < ends
        here, ends = following[left], ends[left]
    return np.sort(np.concatenate([*starts, sentences[-1:]]))


def full_starts(sentences: Ints, documents: Ints, limit: int) -> Ints:
    """Cut a corpus into chunks of at most `limit` tokens that may span documents.

    A separator is counted after each document, and the chunks' starts (and the end) count these too: the
    first token of document d has the number sentences[documents[d]] + d. No chunk begins with a separator:
    the previous chunk includes it, even beyond the limit, as every sequence ends with [SEP] in any case. To
    compute many chunks at a time, every `TOGETHER`-th document begins a chunk.
    """
    number = np.repeat(np.arange(len(documents) - 1), np.diff(documents))
    counted = np.append(sentences[:-1] + number, sentences[-1] + len(documents) - 1)
    starts = chunk_starts(counted, np.append(documents[:-1:TOGETHER], documents[-1]), limit)
    separators = sentences[documents[1:]] + np.arange(len(documents) - 1)
    return np.unique(starts + np.isin(starts, separators))


class Instances:
    """Batches of a pretraining over packed documents. The recipe's `sequence_length` includes [CLS] and
    [SEP]; its `batch_size` is for all processes together. Raises a `PubmillError` if the corpus is empty or
    the sequences are too short for any token."""

    def __init__(self, packed: PackedTokens, recipe: PretrainingRecipe) -> None:
        self.pairs, self.full = recipe.objective.pairs, recipe.objective.sequences == "full"
        self.limit = recipe.sequence_length - (2 if self.pairs == "none" else 3)
        if self.limit < 2 or len(packed.ids) == 0:
            found = f"{len(packed.ids)} packed tokens, sequences of {recipe.sequence_length}"
            raise PubmillError(f"nothing to pretrain on: {found}")
        self.ids = packed.ids
        self.sentences, documents = np.asarray(packed.sentences), np.asarray(packed.documents)
        self.document_starts = self.sentences[documents[:-1]]
        cut = full_starts if self.full else chunk_starts
        self.starts = cut(self.sentences, documents, self.limit)
        self.cls, self.sep = packed.special["cls"], packed.special["sep"]
        self.batch_size, self.seed = recipe.batch_size, recipe.seed
        self._orders: dict[int, Ints] = {}

    def __len__(self) -> int:
        """Return the number of instances in an epoch."""
        return len(self.starts) - 1

    def chunks(self, step: int) -> Ints:
        """Return the chunks of a step (from 0): the next `batch_size` in the epochs' permutations."""
        numbers = np.arange(step * self.batch_size, (step + 1) * self.batch_size)
        epochs = numbers // len(self)
        present = np.unique(epochs).tolist()
        for epoch in present:
            if epoch not in self._orders:
                self._orders[epoch] = generator(self.seed, Stream.ORDER, epoch).permutation(len(self))
        self._orders = {epoch: self._orders[epoch] for epoch in present}
        parts = [self._orders[epoch][numbers[epochs == epoch] % len(self)] for epoch in present]
        return np.concatenate(parts)

    def batch(self, step: int) -> PackedBatch:
        """Return the whole batch of a step (from 0), independent of the number of processes."""
        return self.lay_out(self.chunks(step), generator(self.seed, Stream.PAIRS, step))

    def lay_out(self, chunks: Ints, random: np.random.Generator) -> PackedBatch:
        """Return chunks as sequences, with their pair labels."""
        start, end = self.starts[chunks], self.starts[chunks + 1]
        nothing = np.full(len(chunks), UNLABELLED)
        if self.full:
            return self._lay_out_across(start, end)
        if self.pairs == "none":
            return self._lay_out(start, end - start, end, end - end, nothing, 0)
        middle = self._cut_at_sentence(start, end, random.random(len(chunks)))
        if self.pairs == "next-sentence":
            # Each A gets its own B, or that of another document.
            labels = np.where(middle < end, IS_NEXT, UNLABELLED)
            chosen = (labels == IS_NEXT) & (random.random(len(start)) < 0.5)
            other = self._other_documents(start, end - middle, chosen)
            labels[other != np.arange(len(start))] = RANDOM
            length = np.minimum((end - middle)[other], self.limit - (middle - start))
            cut = int((end - middle).sum() - length.sum())
            return self._lay_out(start, middle - start, middle[other], length, labels, cut)
        if self.pairs == "unlabelled":
            return self._lay_out(start, middle - start, middle, end - middle, nothing, 0)
        swapped = (middle < end) & (random.random(len(chunks)) < 0.5)
        labels = np.where(middle < end, np.where(swapped, SWAPPED, IN_ORDER), UNLABELLED)
        first, second = np.where(swapped, middle, start), np.where(swapped, start, middle)
        n_first = np.where(swapped, end - middle, middle - start)
        return self._lay_out(first, n_first, second, end - start - n_first, labels, 0)

    def _cut_at_sentence(self, start: Ints, end: Ints, where: NDArray[np.float64]) -> Ints:
        """Return a random sentence start inside each chunk; the chunk's end if it has only one sentence."""
        first = np.searchsorted(self.sentences, start, side="right")
        count = np.searchsorted(self.sentences, end, side="left") - first
        picked = self.sentences[np.minimum(first + (where * count).astype(np.int64), len(self.sentences) - 1)]
        return np.where(count > 0, picked, end)

    def _other_documents(self, start: Ints, length: Ints, chosen: NDArray[np.bool_]) -> Ints:
        """Return the number of the instance whose B each one gets: its own or, where `chosen`, its partner's.
        Partners have B of similar length, so that almost nothing is cut off, and they exchange B, so that an
        epoch still contains every token once. Partners in the same document keep their own."""
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
        """Return `[CLS] A [SEP] B [SEP]`, or `[CLS] A [SEP]` if B is empty, concatenated."""
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
        """Return `[CLS] tokens [SEP] tokens [SEP]`, with one part for each document that a chunk spans.
        `start` and `end` count a separator after each document, see `full_starts`."""
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


def shares(lengths: Ints, processes: int) -> list[Ints]:
    """Return the indices of each process's sequences, ascending; processes get similar numbers of tokens."""
    longest_first = np.argsort(-lengths, kind="stable")
    return [np.sort(longest_first[process::processes]) for process in range(processes)]


def micro_batches(lengths: Ints, size: int) -> list[Ints]:
    """Return the sequences computed together: at most `size`, of similar length, the longest first."""
    order = np.argsort(-lengths, kind="stable")
    return [order[start : start + size] for start in range(0, len(order), size)]

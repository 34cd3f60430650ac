"""Byte-pair merges learnt from word counts: how a WordPiece vocabulary is grown.

Starts from the characters, a `##` before those that continue a word, and joins the most frequent pair of
neighbouring pieces until the vocabulary is full (gu2020 section 2.1; what the `tokenizers` trainer of BERT
vocabularies does, by frequency and not by likelihood). Working on counted words makes the time depend on
the number of distinct words only. Among equally frequent pairs the one with the smaller ids comes first, and
ids don't depend on the order of the words, so equal counts give equal vocabularies. (The trainer of
`tokenizers` numbers its pieces in the random order of a hash table and differs from run to run.)
"""

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pubmill.errors import PubmillError

CONTINUATION = "##"
# as in BERT's vocabularies: rarer characters are unknown
LARGEST_ALPHABET = 1000

Integers = NDArray[np.int64]


def learn_pieces(counts: Mapping[str, int], size: int, special: Sequence[str]) -> list[str]:
    """The `size` pieces learnt from `counts` (word -> occurrences): special, characters, merges in order.

    Fewer are returned where the words are used up. Words with a character outside the alphabet take no part:
    they can't be encoded. Raises `PubmillError` where `size` does not even hold the characters.
    """
    characters = _alphabet(counts)
    words = sorted(word for word in counts if word and characters.issuperset(word))
    continuing = {CONTINUATION + character for word in words for character in word[1:]}
    pieces = [*special, *sorted(characters), *sorted(continuing)]
    if size < len(pieces):
        raise PubmillError(
            f"a vocabulary of {size} is too small: {len(special)} special tokens and the characters of this "
            f"corpus are {len(pieces)} pieces already; ask for a larger one"
        )
    text = _PairedText(words, counts, pieces)
    while len(text.pieces) < size and text.merge_best():
        pass
    return text.pieces


def _alphabet(counts: Mapping[str, int]) -> set[str]:
    """The most frequent characters; the smaller code point first among equals."""
    frequency: Counter[str] = Counter()
    for word, count in counts.items():
        for character in word:
            frequency[character] += count
    ranked = sorted(frequency, key=lambda character: (-frequency[character], character))
    return set(ranked[:LARGEST_ALPHABET])


class _PairedText:
    """All distinct words as one array of pieces, in which pairs are counted and joined.

    A pair of neighbours is one integer, left id * 2**32 + right id. `piece[p]` is -1 where position p has
    been joined to an earlier one; `following` and `preceding` lead from a piece to its neighbours in the same
    word, -1 at the ends.
    """

    def __init__(self, words: Sequence[str], counts: Mapping[str, int], pieces: list[str]) -> None:
        self.pieces = pieces
        self.ids = {piece: number for number, piece in enumerate(pieces)}
        lengths = np.array([len(word) for word in words], np.int64)
        ends = np.cumsum(lengths)
        total = int(ends[-1]) if len(words) else 0
        self.piece = np.fromiter(
            (
                self.ids[character if place == 0 else CONTINUATION + character]
                for word in words
                for place, character in enumerate(word)
            ),
            np.int64,
            total,
        )
        self.weight = np.repeat(np.array([counts[word] for word in words], np.int64), lengths)
        self.following = np.arange(1, total + 1)
        self.following[ends - 1] = -1
        self.preceding = np.arange(-1, total - 1)
        self.preceding[ends - lengths] = -1
        self.count: dict[int, int] = {}
        self.places: dict[int, list[Integers]] = {}
        self.queue: list[tuple[int, int]] = []
        self._add(np.flatnonzero(self.following >= 0))

    def merge_best(self) -> bool:
        """Join the most frequent pair everywhere; False where no pair is left."""
        while self.queue:
            count, pair = heapq.heappop(self.queue)
            now = self.count.get(pair, 0)
            if now == -count:
                self._merge(pair)
                return True
            # the queue is told of rises only; a count that has fallen is put right when it comes up
            if 0 < now < -count:
                heapq.heappush(self.queue, (-now, pair))
        return False

    def _merge(self, pair: int) -> None:
        left, right = pair >> 32, pair & 0xFFFFFFFF
        first = self._occurrences(pair, left, right)
        second = self.following[first]
        before, after = self.preceding[first], self.following[second]
        # the pairs that vanish: the joined ones and those with their neighbours (each once)
        self._remove(np.unique(np.concatenate((first, before[before >= 0], second[after >= 0]))))
        self.piece[first] = self._id(self.pieces[left] + self.pieces[right].removeprefix(CONTINUATION))
        self.piece[second] = -1
        self.following[first] = after
        self.preceding[after[after >= 0]] = first[after >= 0]
        before = self.preceding[first]
        self._add(np.unique(np.concatenate((first[self.following[first] >= 0], before[before >= 0]))))

    def _occurrences(self, pair: int, left: int, right: int) -> Integers:
        """Where the pair stands, in order and without overlaps: of "aaa" the first two."""
        places: Integers = np.sort(np.concatenate(self.places.pop(pair)))
        places = places[(self.piece[places] == left) & (self.following[places] >= 0)]
        places = places[self.piece[self.following[places]] == right]
        if left != right or len(places) == 0:
            return places
        begins = np.ones(len(places), bool)
        begins[1:] = self.preceding[places[1:]] != places[:-1]
        number = np.arange(len(places))
        kept: Integers = places[(number - np.maximum.accumulate(np.where(begins, number, 0))) % 2 == 0]
        return kept

    def _id(self, piece: str) -> int:
        """The id of a piece; the same string can come of different pairs ("##a" "##bc", "##ab" "##c")."""
        number = self.ids.setdefault(piece, len(self.pieces))
        if number == len(self.pieces):
            self.pieces.append(piece)
        return number

    def _pairs(self, places: Integers) -> Integers:
        return self.piece[places] << 32 | self.piece[self.following[places]]

    def _remove(self, places: Integers) -> None:
        for pair, weight, _ in _grouped(self._pairs(places), self.weight[places], places):
            self.count[pair] -= weight
            if not self.count[pair]:
                del self.count[pair]
                self.places.pop(pair, None)

    def _add(self, places: Integers) -> None:
        for pair, weight, where in _grouped(self._pairs(places), self.weight[places], places):
            self.count[pair] = self.count.get(pair, 0) + weight
            self.places.setdefault(pair, []).append(where)
            heapq.heappush(self.queue, (-self.count[pair], pair))


def _grouped(pairs: Integers, weights: Integers, places: Integers) -> Any:
    """Each distinct pair with the sum of its weights and its places."""
    if len(pairs) == 0:
        return ()
    order = np.argsort(pairs, kind="stable")
    pairs = pairs[order]
    begins = np.flatnonzero(np.concatenate(([True], pairs[1:] != pairs[:-1])))
    sums = np.add.reduceat(weights[order], begins)
    return zip(pairs[begins].tolist(), sums.tolist(), np.split(places[order], begins[1:]), strict=True)

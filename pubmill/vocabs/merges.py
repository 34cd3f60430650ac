"""Byte-pair merges learnt from word counts: how WordPiece and byte-level vocabularies are grown.

Starts from the characters and joins the most frequent pair of neighbouring pieces until the vocabulary is
full (gu2020 section 2.1; what the trainers of `tokenizers` do for both kinds, by frequency and not by
likelihood). In WordPiece a `##` stands before pieces that continue a word; byte-level words carry their
space, so there it is empty. Working on counted words makes the time depend on the number of distinct words
only. Among equally frequent pairs the one with the smaller ids comes first, and ids don't depend on the order
of the words, so equal counts give equal vocabularies. (The trainer of `tokenizers` has the same rule; but
with `##` it numbers its pieces in the random order of a hash table and differs from run to run.)
"""

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pubmill.errors import PubmillError

CONTINUATION = "##"
# as in BERT's vocabularies: rarer characters are unknown
LARGEST_ALPHABET = 1000

Integers = NDArray[np.int64]
Places = NDArray[np.int32]


@dataclass(frozen=True)
class Learnt:
    """`pieces`, whose ids are their places: special, characters, then joined ones in the order of `merges`.

    A merge whose piece was there already (of other parts) adds none.
    """

    pieces: list[str]
    merges: list[tuple[str, str]] = field(default_factory=list)


def learn_pieces(
    counts: Mapping[str, int],
    size: int,
    special: Sequence[str],
    continuation: str = CONTINUATION,
    alphabet: Iterable[str] = (),
) -> Learnt:
    """The `size` pieces learnt from `counts` (word -> occurrences).

    Fewer are returned where the words are used up. `alphabet` has characters that are pieces in any case.
    Words with a character outside the largest alphabet take no part: they can't be encoded. Raises
    `PubmillError` where `size` does not even hold the characters.
    """
    words = sorted(filter(None, counts))
    characters = _alphabet(words, counts, frozenset(alphabet))
    if not characters.issuperset(chain.from_iterable(words)):
        words = [word for word in words if characters.issuperset(word)]
    first = sorted(characters)
    inner = set(chain.from_iterable(word[1:] for word in words))
    continuing = sorted({continuation + character for character in inner} - characters)
    pieces = [*special, *first, *continuing]
    if size < len(pieces):
        raise PubmillError(
            f"a vocabulary of {size} is too small: {len(special)} special tokens and the characters of this "
            f"corpus are {len(pieces)} pieces already; ask for a larger one"
        )
    text = _PairedText(words, counts, pieces, continuation)
    while len(text.pieces) < size and text.merge_best():
        pass
    return Learnt(text.pieces, text.merges)


def _alphabet(words: Sequence[str], counts: Mapping[str, int], given: frozenset[str]) -> set[str]:
    """The given characters and the most frequent others; the smaller code point first among equals."""
    codes, weights = _spelt(words), _weights(words, counts)
    known, inverse = np.unique(codes, return_inverse=True)
    sums = np.bincount(inverse, weights, len(known)) if len(known) else np.zeros(0)
    ranked = [chr(code) for code in known[np.argsort(-sums, kind="stable")].tolist()]
    others = [character for character in ranked if character not in given]
    return {*given, *others[: LARGEST_ALPHABET - len(given)]}


def _spelt(words: Sequence[str]) -> NDArray[np.uint32]:
    """The code points of all words, one after the other."""
    return np.frombuffer("".join(words).encode("utf-32-le"), np.uint32)


def _weights(words: Sequence[str], counts: Mapping[str, int]) -> Integers:
    """How often each character of each word occurs there."""
    return np.repeat([counts[word] for word in words], [len(word) for word in words]).astype(np.int64)


class _PairedText:
    """All distinct words as one array of pieces, in which pairs are counted and joined.

    A pair of neighbours is one integer, left id * 2**32 + right id. `piece[p]` is -1 where position p has
    been joined to an earlier one; `following` and `preceding` lead from a piece to its neighbours in the same
    word, -1 at the ends. `places` has where each pair stands or has stood.
    """

    def __init__(
        self, words: Sequence[str], counts: Mapping[str, int], pieces: list[str], continuation: str
    ) -> None:
        self.pieces, self.merges = pieces, list[tuple[str, str]]()
        self.ids = {piece: number for number, piece in enumerate(pieces)}
        self._continuation = continuation
        lengths = np.array([len(word) for word in words], np.int64)
        ends = np.cumsum(lengths)
        begins, total = ends - lengths, int(ends[-1]) if len(words) else 0
        self.piece = self._first_pieces(words, begins)
        self.weight = _weights(words, counts)
        self.following = np.arange(1, total + 1, dtype=np.int32)
        self.following[ends - 1] = -1
        self.preceding = np.arange(-1, total - 1, dtype=np.int32)
        self.preceding[begins] = -1
        self.count: dict[int, int] = {}
        self.places: dict[int, list[Places]] = {}
        # every pair that occurs at least `floor` times
        self.queue: list[tuple[int, int]] = []
        self.floor = int(self.weight.sum()) + 1
        places = np.flatnonzero(self.following >= 0).astype(np.int32)
        pairs = self.piece[places].astype(np.int64) << 32 | self.piece[self.following[places]]
        for pair, weight, where in _grouped(pairs, self.weight[places], places):
            self._add(pair, weight, where)

    def _first_pieces(self, words: Sequence[str], begins: Integers) -> Places:
        """The ids of all characters, by way of an array of code points."""
        known, inverse = np.unique(_spelt(words), return_inverse=True)
        characters = [chr(code) for code in known.tolist()]
        initial = np.array([self.ids[c] for c in characters], np.int32)
        inner = np.array([self.ids.get(self._continuation + c, -1) for c in characters], np.int32)
        piece: Places = inner[inverse]
        piece[begins] = initial[inverse[begins]]
        return piece

    def merge_best(self) -> bool:
        """Join the most frequent pair everywhere; False where no pair is left."""
        while self.queue or self._lower_floor():
            count, pair = heapq.heappop(self.queue)
            now = self.count.get(pair, 0)
            if now == -count:
                self._merge(pair)
                return True
            # the queue is told of rises only; a count that has fallen is put right when it comes up
            if self.floor <= now < -count:
                heapq.heappush(self.queue, (-now, pair))
        return False

    def _lower_floor(self) -> bool:
        """Queue the next frequent pairs; most pairs are too rare to be ever joined and never queued."""
        while self.floor > 1 and not self.queue:
            self.floor = max(1, self.floor // 8)
            self.queue = [(-count, pair) for pair, count in self.count.items() if count >= self.floor]
        heapq.heapify(self.queue)
        return bool(self.queue)

    def _merge(self, pair: int) -> None:
        left, right = pair >> 32, pair & 0xFFFFFFFF
        first = self._occurrences(pair, left, right)
        second = self.following[first]
        before, after = self.preceding[first], self.following[second]
        joined = self._id(left, right)
        self.merges.append((self.pieces[left], self.pieces[right]))
        del self.count[pair]
        inner = after >= 0
        first_inner, after_inner = first[inner], after[inner]
        next_before = self.piece[after_inner]
        self.piece[second], self.piece[first] = -1, joined
        self._exchange_left(before[before >= 0], left, joined)
        self._exchange_right(first_inner, next_before, self.piece[after_inner], left, right, joined)
        self.following[first] = after
        self.preceding[after_inner] = first_inner

    def _exchange_left(self, before: Places, left: int, joined: int) -> None:
        """The pairs of what stands before the joined ones; a piece that has just been joined is left to
        `_exchange_right`."""
        piece = self.piece[before]
        still = piece >= 0
        piece, before = piece[still], before[still]
        for other, weight, where in _grouped(piece, self.weight[before], before):
            self._subtract(other << 32 | left, weight)
            self._add(other << 32 | joined, weight, where)

    def _exchange_right(
        self, first: Places, old: Places, new: Places, left: int, right: int, joined: int
    ) -> None:
        """The pairs of what stands behind the joined ones; where that has been joined too, `new` is not
        `old`."""
        apart = old == new
        for other, weight, where in _grouped(old[apart], self.weight[first[apart]], first[apart]):
            self._subtract(right << 32 | other, weight)
            self._add(joined << 32 | other, weight, where)
        touching = first[~apart]
        if len(touching):
            weight = int(self.weight[touching].sum())
            self._subtract(right << 32 | left, weight)
            self._add(joined << 32 | joined, weight, touching)

    def _occurrences(self, pair: int, left: int, right: int) -> Places:
        """Where the pair stands, in order and without overlaps: of "aaa" the first two."""
        found = self.places.pop(pair)
        places: Places = found[0] if len(found) == 1 else np.sort(np.concatenate(found))
        places = places[self.piece[places] == left]
        following = self.following[places]
        places = places[(following >= 0) & (self.piece[following] == right)]
        if left != right or len(places) == 0:
            return places
        begins = np.ones(len(places), bool)
        begins[1:] = self.preceding[places[1:]] != places[:-1]
        number = np.arange(len(places))
        kept: Places = places[(number - np.maximum.accumulate(np.where(begins, number, 0))) % 2 == 0]
        return kept

    def _id(self, left: int, right: int) -> int:
        """The id of what a pair joins to; the same string can come of different pairs ("##a" "##bc",
        "##ab" "##c")."""
        piece = self.pieces[left] + self.pieces[right].removeprefix(self._continuation)
        number = self.ids.setdefault(piece, len(self.pieces))
        if number == len(self.pieces):
            self.pieces.append(piece)
        return number

    def _subtract(self, pair: int, weight: int) -> None:
        """Take from a pair's count; the pair that is being joined has none any more."""
        if pair in self.count:
            self.count[pair] -= weight
            if not self.count[pair]:
                del self.count[pair]
                self.places.pop(pair, None)

    def _add(self, pair: int, weight: int, places: Places) -> None:
        count = self.count[pair] = self.count.get(pair, 0) + weight
        self.places.setdefault(pair, []).append(places)
        if count >= self.floor:
            heapq.heappush(self.queue, (-count, pair))


def _grouped(keys: NDArray[Any], weights: Integers, places: Places) -> Iterable[tuple[int, int, Places]]:
    """Each distinct key with the sum of its weights and its places, in their order."""
    if len(keys) == 0:
        return ()
    order = np.argsort(keys, kind="stable")
    keys, places = keys[order], places[order]
    begins = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    sums = np.add.reduceat(weights[order], begins).tolist()
    bounds = [*begins.tolist(), len(keys)]
    return (
        (key, weight, places[begin:end])
        for key, weight, begin, end in zip(keys[begins].tolist(), sums, bounds, bounds[1:], strict=False)
    )

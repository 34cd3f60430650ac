"""Training of WordPiece and byte-level vocabularies by byte-pair merges of counted words.

Starts from the characters and joins the most frequent pair of neighbouring pieces until the vocabulary is
full (gu2020 section 2.1; the trainers of `tokenizers` do this for both kinds, by frequency and not by
likelihood, for which see `LikelihoodText`). In WordPiece the prefix `##` marks pieces that continue a word;
byte-level words contain their space, so their prefix is empty. With counted words, the time depends only on
the number of distinct words. Among equally frequent pairs the one with the smaller ids comes first, and ids
do not depend on the order of the words, so equal counts result in equal vocabularies. (The trainer of
`tokenizers` has the same rule; but with `##` it numbers its pieces in the random order of a hash table and
differs from run to run.)
"""

import heapq
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pubmill.errors import PubmillError

CONTINUATION = "##"
# as in BERT's vocabularies; rarer characters are unknown
LARGEST_ALPHABET = 1000

Integers = NDArray[np.int64]
Places = NDArray[np.int32]


def learn_pieces(
    counts: Mapping[str, int],
    size: int,
    special: Sequence[str],
    continuation: str = CONTINUATION,
    alphabet: Iterable[str] = (),
    merging: "type[PairedText] | None" = None,
) -> "PairedText":
    """Return a text with `size` pieces learnt from `counts` (word -> occurrences); `merging` chooses the
    pairs, the most frequent first if it is None.

    Returns fewer pieces if no pair is left to join. `alphabet` are characters that always become pieces.
    Words with a character outside of the largest alphabet are skipped: they cannot be encoded. Raises
    `PubmillError` if special tokens and characters alone exceed `size`.
    """
    words = sorted(filter(None, counts))
    # The given characters and the most frequent others; ties go to the smaller code point.
    required = frozenset(alphabet)
    codes, inverse = np.unique(_code_points(words), return_inverse=True)
    sums = np.bincount(inverse, _character_weights(words, counts), len(codes))
    ranked = [chr(code) for code in codes[np.argsort(-sums, kind="stable")].tolist()]
    others = [character for character in ranked if character not in required]
    characters = {*required, *others[: LARGEST_ALPHABET - len(required)]}
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
    text = (merging or PairedText)(words, counts, pieces, continuation)
    while len(text.pieces) < size and text.merge_best():
        pass
    return text


def _code_points(words: Sequence[str]) -> NDArray[np.uint32]:
    return np.frombuffer("".join(words).encode("utf-32-le"), np.uint32)


def _character_weights(words: Sequence[str], counts: Mapping[str, int]) -> Integers:
    """Return the occurrences of each character of each word: its word's count."""
    return np.repeat([counts[word] for word in words], [len(word) for word in words]).astype(np.int64)


class PairedText:
    """All distinct words as one array of pieces, with counts of neighbouring pairs. The ids of `pieces` are
    their indices: special, characters, then joined ones in the order of `merges`, of which one adds no piece
    if the same piece was made of other parts before.

    A pair of neighbours is one integer, left id * 2**32 + right id. `piece[p]` is -1 if position p has
    been joined to an earlier one; `following` and `preceding` are the positions of a piece's neighbours in
    the same word, -1 at the ends. `places` contains the present and former positions of each pair.
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
        # The ids of all characters, looked up through an array of code points.
        known, inverse = np.unique(_code_points(words), return_inverse=True)
        characters = [chr(code) for code in known.tolist()]
        initial = np.array([self.ids[c] for c in characters], np.int32)
        inner = np.array([self.ids.get(continuation + c, -1) for c in characters], np.int32)
        self.piece: Places = inner[inverse]
        self.piece[begins] = initial[inverse[begins]]
        self.weight = _character_weights(words, counts)
        self.following = np.arange(1, total + 1, dtype=np.int32)
        self.following[ends - 1] = -1
        self.preceding = np.arange(-1, total - 1, dtype=np.int32)
        self.preceding[begins] = -1
        self.count: dict[int, int] = {}
        self.places: dict[int, list[Places]] = {}
        # heap of all pairs that occur at least `floor` times
        self.queue: list[tuple[int, int]] = []
        self.floor = int(self.weight.sum()) + 1
        places = np.flatnonzero(self.following >= 0).astype(np.int32)
        pairs = self.piece[places].astype(np.int64) << 32 | self.piece[self.following[places]]
        for pair, weight, where in _group_sums(pairs, self.weight[places], places):
            self._add_weight(pair, weight, where)

    def merge_best(self) -> bool:
        """Join all occurrences of the most frequent pair; return False if no pair is left."""
        while self.queue or self._lower_floor():
            count, pair = heapq.heappop(self.queue)
            now = self.count.get(pair, 0)
            if now == -count:
                self._merge_pair(pair)
                return True
            # only increases are queued; a decreased count is corrected when popped
            if self.floor <= now < -count:
                heapq.heappush(self.queue, (-now, pair))
        return False

    def _lower_floor(self) -> bool:
        """Queue the next most frequent pairs; return False if none is left. Most pairs are never queued."""
        while self.floor > 1 and not self.queue:
            self.floor = max(1, self.floor // 8)
            self.queue = [(-count, pair) for pair, count in self.count.items() if count >= self.floor]
        heapq.heapify(self.queue)
        return bool(self.queue)

    def _merge_pair(self, pair: int) -> None:
        left, right = pair >> 32, pair & 0xFFFFFFFF
        first = self._occurrences(pair, left, right)
        second = self.following[first]
        before, after = self.preceding[first], self.following[second]
        piece = self.pieces[left] + self.pieces[right].removeprefix(self._continuation)
        joined = self.ids.setdefault(piece, len(self.pieces))
        if joined == len(self.pieces):
            self.pieces.append(piece)
        self._count_joined(left, right, joined, first)
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

    def _count_joined(self, left: int, right: int, joined: int, first: Places) -> None:
        """Count a joined pair at its places; a hook, as frequencies need no counts of pieces."""

    def _exchange_left(self, before: Places, left: int, joined: int) -> None:
        """Update the pairs with the pieces before the joined ones, except those that were joined too."""
        piece = self.piece[before]
        still = piece >= 0
        piece, before = piece[still], before[still]
        for other, weight, where in _group_sums(piece, self.weight[before], before):
            self._subtract_weight(other << 32 | left, weight)
            self._add_weight(other << 32 | joined, weight, where)

    def _exchange_right(
        self, first: Places, old: Places, new: Places, left: int, right: int, joined: int
    ) -> None:
        """Update the pairs with the pieces after the joined ones; `new` differs from `old` if joined too."""
        apart = old == new
        for other, weight, where in _group_sums(old[apart], self.weight[first[apart]], first[apart]):
            self._subtract_weight(right << 32 | other, weight)
            self._add_weight(joined << 32 | other, weight, where)
        touching = first[~apart]
        if len(touching):
            weight = int(self.weight[touching].sum())
            self._subtract_weight(right << 32 | left, weight)
            self._add_weight(joined << 32 | joined, weight, touching)

    def _occurrences(self, pair: int, left: int, right: int) -> Places:
        """Return the positions of the pair, in order and without overlaps: in "aaa" only the first."""
        parts = self.places.pop(pair)
        places: Places = parts[0] if len(parts) == 1 else np.sort(np.concatenate(parts))
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

    def _subtract_weight(self, pair: int, weight: int) -> None:
        """Subtract from a pair's count; the pair being joined has no count any more."""
        if pair in self.count:
            self.count[pair] -= weight
            if not self.count[pair]:
                del self.count[pair]
                self.places.pop(pair, None)

    def _add_weight(self, pair: int, weight: int, places: Places) -> None:
        count = self.count[pair] = self.count.get(pair, 0) + weight
        self.places.setdefault(pair, []).append(places)
        if count >= self.floor:
            heapq.heappush(self.queue, (-count, pair))


def _group_sums(keys: NDArray[Any], weights: Integers, places: Places) -> Iterable[tuple[int, int, Places]]:
    """Return each distinct key with the sum of its weights and its places, in their order."""
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


RIGHT = 0xFFFFFFFF

Floats = NDArray[np.float64]


class LikelihoodText(PairedText):
    """Words merged by likelihood instead of frequency, as gu2020 section 2.1 describes WordPiece.

    Each step joins the pair that raises the likelihood of the text the most when it becomes a piece (Schuster
    and Nakajima 2012, section 2, with a unigram language model of pieces); of equal gains the one with the
    smaller ids. For a pair that occurs n times in a text of N pieces, with f(x) = x log x, the gain is

        f(left - n) - f(left) + f(right - n) - f(right) + f(n) + f(N) - f(N - n)

    The gain is at most n (log(N / n) + 1), so only pairs that are frequent enough are compared.

    `used`: occurrences of each piece; `candidates`: the pairs that occur at least `least` times.
    """

    def __init__(
        self, words: Sequence[str], counts: Mapping[str, int], pieces: list[str], continuation: str
    ) -> None:
        self.candidates, self.least = _Candidates(), sys.maxsize
        super().__init__(words, counts, pieces, continuation)
        self.total = float(self.weight.sum())
        self.used = np.bincount(self.piece, self.weight, len(pieces))
        self.least = int(self.total) + 1

    def merge_best(self) -> bool:
        """Join all occurrences of the pair with the largest gain; return False if no pair is left."""
        while True:
            pairs, counts = self.candidates.arrays()
            gains = np.where(counts > 0, self._gains(pairs, counts), -np.inf)
            gain = float(gains.max(initial=-np.inf))
            rarer = self.least - 1  # occurrences of the pairs that are no candidates, which bound their gains
            if rarer and gain < rarer * (float(np.log(self.total / rarer)) + 1):
                self.least = max(1, self.least // 2)
                self.candidates = _Candidates()
                for other, count in self.count.items():
                    if count >= self.least:
                        self.candidates[other] = count
            elif gain == -np.inf:
                return False
            else:
                self._merge_pair(int(pairs[gains == gain].min()))
                return True

    def _gains(self, pairs: NDArray[np.int64], counts: Floats) -> Floats:
        left, right = self.used[pairs >> 32], self.used[pairs & RIGHT]
        same = pairs >> 32 == pairs & RIGHT
        # of neighbours in "aaa" only every other one can be joined
        counts = np.where(same, np.minimum(counts, left // 2), counts)
        change = (_x_log_x(left - counts) - _x_log_x(left)) + (_x_log_x(right - counts) - _x_log_x(right))
        change_of_same = _x_log_x(left - 2 * counts) - _x_log_x(left)
        of_all = _x_log_x(np.array(self.total)) - _x_log_x(self.total - counts)
        gains: Floats = np.where(same, change_of_same, change) + _x_log_x(counts) + of_all
        return gains

    def _count_joined(self, left: int, right: int, joined: int, first: Places) -> None:
        """Update the occurrences of pieces."""
        if joined >= len(self.used):
            self.used = np.concatenate([self.used, np.zeros(len(self.used))])
        count = float(self.weight[first].sum())
        np.add.at(self.used, [left, right, joined], [-count, -count, count])
        self.total -= count

    def _add_weight(self, pair: int, weight: int, places: Places) -> None:
        super()._add_weight(pair, weight, places)
        self._update_candidate(pair)

    def _subtract_weight(self, pair: int, weight: int) -> None:
        super()._subtract_weight(pair, weight)
        self._update_candidate(pair)

    def _merge_pair(self, pair: int) -> None:
        super()._merge_pair(pair)
        self._update_candidate(pair)

    def _update_candidate(self, pair: int) -> None:
        count = self.count.get(pair, 0)
        if pair in self.candidates or count >= self.least:
            self.candidates[pair] = count


class _Candidates:
    """Pairs and their counts in two arrays."""

    def __init__(self) -> None:
        self._pairs, self._counts = np.zeros(1024, np.int64), np.zeros(1024)
        self._slots: dict[int, int] = {}

    def arrays(self) -> tuple[NDArray[np.int64], Floats]:
        """Return all pairs that were set, and their counts; 0 if a pair no longer occurs."""
        return self._pairs[: len(self._slots)], self._counts[: len(self._slots)]

    def __contains__(self, pair: int) -> bool:
        return pair in self._slots

    def __setitem__(self, pair: int, count: int) -> None:
        slot = self._slots.setdefault(pair, len(self._slots))
        if slot == len(self._pairs):
            self._pairs = np.concatenate([self._pairs, np.zeros_like(self._pairs)])
            self._counts = np.concatenate([self._counts, np.zeros_like(self._counts)])
        self._pairs[slot], self._counts[slot] = pair, count


def _x_log_x(values: Floats) -> Floats:
    result: Floats = values * np.log(np.maximum(values, 1.0))  # 0 for 0
    return result

"""Merges by likelihood instead of frequency, as gu2020 section 2.1 describes WordPiece.

Each step joins the pair that raises the likelihood of the text the most when it becomes a piece (Schuster and
Nakajima 2012, section 2, with a unigram language model of pieces). With f(x) = x log x, a pair that occurs n
times, and N pieces in the text, that is

    f(left - n) - f(left) + f(right - n) - f(right) + f(n) + f(N) - f(N - n)

It is at most n (log(N / n) + 1), so only pairs that are frequent enough are compared.
"""

import sys
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pubmill.vocabs.merges import PairedText, Places

RIGHT = 0xFFFFFFFF

Floats = NDArray[np.float64]


class LikelihoodText(PairedText):
    """Words whose next pair is the one with the largest gain; of equal gains the one with the smaller ids.
    `used`: occurrences of each piece; `candidates`: the pairs that occur at least `least` times."""

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
            gain, pair = self._best_pair()
            if self.least > 1 and gain < self._largest_gain(self.least - 1):
                self._lower_least()
            elif gain == -np.inf:
                return False
            else:
                self._merge_pair(pair)
                return True

    def _best_pair(self) -> tuple[float, int]:
        """Return the largest gain of a candidate, and the pair; minus infinity without candidates."""
        pairs, counts = self.candidates.pairs, self.candidates.counts
        gains = np.where(counts > 0, self._gains(pairs, counts), -np.inf)
        if not len(gains) or (best := gains.max()) == -np.inf:
            return -np.inf, -1
        return float(best), int(pairs[gains == best].min())

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

    def _largest_gain(self, count: int) -> float:
        """Return a bound on the gain of pairs that occur at most `count` times."""
        return count * (float(np.log(self.total / count)) + 1)

    def _lower_least(self) -> None:
        self.least = max(1, self.least // 2)
        self.candidates = _Candidates()
        for pair, count in self.count.items():
            if count >= self.least:
                self.candidates[pair] = count

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

    @property
    def pairs(self) -> NDArray[np.int64]:
        """All pairs that were set."""
        return self._pairs[: len(self._slots)]

    @property
    def counts(self) -> Floats:
        """Their counts; 0 if a pair no longer occurs."""
        return self._counts[: len(self._slots)]

    def __contains__(self, pair: int) -> bool:
        return pair in self._slots

    def __setitem__(self, pair: int, count: int) -> None:
        slot = self._slots.setdefault(pair, len(self._slots))
        if slot == len(self._pairs):
            self._pairs = np.concatenate([self._pairs, np.zeros_like(self._pairs)])
            self._counts = np.concatenate([self._counts, np.zeros_like(self._counts)])
        self._pairs[slot], self._counts[slot] = pair, count


def _x_log_x(values: Floats) -> Floats:
    """Return x log x; 0 for 0."""
    result: Floats = values * np.log(np.maximum(values, 1.0))
    return result

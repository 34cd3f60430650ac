"""Words and n-grams for comparing texts, independent of case, punctuation and tokenisation."""

import hashlib
import re
import unicodedata
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint64]

_WORD = re.compile(r"[^\W_]+")
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # odd: multiplication by it loses nothing
_KNOWN = 1_000_000


def plain_words(text: str) -> list[str]:
    """Return the runs of letters and digits, in lower case and compatibility form (NFKC). "S-100" and
    "S - 100" are the same two words, as are a ligature and its letters."""
    plain = text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
    return _WORD.findall(plain)


class WordHashes:
    """64-bit hashes of words, the same on every machine; about a million are cached."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def __call__(self, words: Sequence[str]) -> Hashes:
        known = self._known
        if len(known) > _KNOWN:
            known.clear()
        for word in words:
            if word not in known:
                known[word] = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")
        return np.fromiter(map(known.__getitem__, words), np.uint64, len(words))


def ngram_hashes(words: Hashes, n: int) -> Hashes:
    """Return a hash of each n-gram of words, in order; empty if there are fewer than `n` words."""
    count = len(words) - n + 1
    if count <= 0:
        return np.empty(0, np.uint64)
    total = np.zeros(count, np.uint64)
    for k in range(n):
        total *= _MULTIPLIER
        total += words[k : k + count]
    return total

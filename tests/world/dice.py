"""Random choices that are the same with every version of Python.

Python guarantees only that `Random.random()` gives the same numbers in every version (after an integer seed);
`choice`, `randrange` and `shuffle` may change. Therefore all choices use only `random()`.
"""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

Item = TypeVar("Item")


class Dice:
    """A seeded source of choices."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed).random

    def below(self, limit: int) -> int:
        """Return an integer from 0 to `limit` - 1."""
        return int(self._random() * limit)

    def between(self, low: int, high: int) -> int:
        """Return an integer from `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def chance(self, probability: float) -> bool:
        """Return true with this probability."""
        return self._random() < probability

    def pick(self, items: Sequence[Item]) -> Item:
        """Return one of the items."""
        return items[self.below(len(items))]

    def sample(self, items: Sequence[Item], number: int) -> list[Item]:
        """Return `number` different items, in random order."""
        rest = list(items)
        return [rest.pop(self.below(len(rest))) for _ in range(number)]

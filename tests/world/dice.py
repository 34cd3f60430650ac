"""Chance that falls the same way everywhere.

Python promises that only `Random.random()` gives the same numbers in every version (and only after
an integer seed is nothing else asked); `choice`, `randrange` and `shuffle` may change. So all
choices here are made from `random()` alone.
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
        """An integer from 0 to `limit` - 1."""
        return int(self._random() * limit)

    def between(self, low: int, high: int) -> int:
        """An integer from `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self._random() < probability

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items."""
        return items[self.below(len(items))]

    def sample(self, items: Sequence[Item], number: int) -> list[Item]:
        """`number` different items, in a random order."""
        rest = list(items)
        return [rest.pop(self.below(len(rest))) for _ in range(number)]

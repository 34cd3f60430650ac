"""What a floor is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pubmill.examples.kinds import Split

Predict = Callable[[Sequence[Any], Sequence[Any], str | None], list[Any] | None]
"""Function `(known, test, negative)` from labelled examples, examples to predict and the negative label to
predictions, in the form of `pubmill.metrics.records.read_predictions`; None if it does not apply to them."""

SEED = 1
"""Seed of every floor that draws at random."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """A way to predict without a model, for examples of `kinds`, restricted to `tasks` if given.

    `splits`: those whose labels it reads.
    """

    name: str
    kinds: tuple[str, ...]
    definition: str
    predict: Predict
    tasks: tuple[str, ...] | None = None
    splits: tuple[Split, ...] = ("train",)

    def fits(self, kind: str, task: str) -> bool:
        """Return whether the floor applies to examples of this kind in this task."""
        return kind in self.kinds and (self.tasks is None or task in self.tasks)

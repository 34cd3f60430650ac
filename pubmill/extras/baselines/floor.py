"""What a floor is, and the recipe of measuring those of a dataset."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pubmill.examples.kinds import Split
from pubmill.recipes.datasets import Access
from pubmill.recipes.recipe_types import Kind

Predict = Callable[[Sequence[Any], Sequence[Any], str | None], list[Any] | None]
"""Function `(known, test, negative)` from labelled examples, examples to predict and the negative label to
predictions, in the form of `pubmill.metrics.records.read_predictions`; None if it does not apply to them."""

SEED = 1
"""Seed of every floor that draws at random."""


@dataclass(frozen=True, slots=True)
class Floor:
    """A way to predict without a model, for examples of a kind, restricted to `tasks` if given. `splits`:
    those whose labels it reads."""

    name: str
    kind: Kind
    definition: str
    predict: Predict
    tasks: tuple[str, ...] | None = None
    splits: tuple[Split, ...] = ("train",)


@dataclass(frozen=True, kw_only=True)
class FloorsRecipe:
    """The dataset whose floors are measured; fields as in its spec."""

    name: str
    kind: Kind
    task: str
    splits: tuple[str, ...]
    access: Access
    metric: str
    negative: str | None = None

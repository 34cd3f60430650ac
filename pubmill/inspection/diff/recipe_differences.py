"""Resolved recipes side by side: the keys that differ, each once for all recipes with the same two values."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from pubmill.inspection.diff.sides import Names, Paired, Side, paired

ABSENT = "absent"
"""A key that a recipe does not have."""


class KeyDifference(NamedTuple):
    """A key that differs. `kind`: of the recipes; `left`, `right`: the values as JSON, or `absent`; `where`:
    the names of the recipes on the left."""

    kind: str
    key: str
    left: str
    right: str
    where: tuple[str, ...]


class RecipeDifferences(NamedTuple):
    """The keys that differ in recipes on both sides, the number of these, and recipes on one side only."""

    keys: list[KeyDifference]
    compared: int
    left: list[Names]
    right: list[Names]


def recipe_differences(left: Side, right: Side) -> RecipeDifferences:
    """Compare the recipes of two sides."""
    pairs: Paired = paired(left.recipes, right.recipes)
    places: dict[tuple[str, str, str, str], list[str]] = {}
    for one, other in pairs.both:
        first, second = flat(left.recipes[one]), flat(right.recipes[other])
        for key in sorted(first.keys() | second.keys()):
            values = first.get(key, ABSENT), second.get(key, ABSENT)
            if values[0] != values[1]:
                places.setdefault((one[0], key, *values), []).append("/".join(one[1:]))
    keys = [KeyDifference(*of, tuple(where)) for of, where in places.items()]
    return RecipeDifferences(keys, len(pairs.both), pairs.left, pairs.right)


def flat(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of a nested mapping as JSON, by keys joined with full stops; lists are values."""
    return dict(_flat_items(values, ""))


def _flat_items(values: Mapping[str, Any], before: str) -> Iterable[tuple[str, str]]:
    for key, value in values.items():
        name = f"{before}{key}"
        if isinstance(value, Mapping) and value:
            yield from _flat_items(value, f"{name}.")
        else:
            yield name, json.dumps(value, sort_keys=True, ensure_ascii=False)

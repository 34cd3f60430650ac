"""All differences between two sides, and their output as text or JSON."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rich.console import Console
from rich.text import Text

from pubmill.inspection.diff.run_differences import (
    Cost,
    Flips,
    RunDifference,
    flips,
    read_runs,
    run_differences,
)
from pubmill.inspection.diff.sides import Names, Paired, Side, paired
from pubmill.messages.wording import counted
from pubmill.planning.terminal_tables import table
from pubmill.report.rendering import count, duration, metric, number, p_value, signed

SHOWN = 5
"""How many names or ids a line lists; JSON has all."""


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
    """Differing keys of paired recipes, the number of pairs `compared`, and recipes of one side only."""

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


class Differences(NamedTuple):
    """Differences of A and B. `flips`: for each of `runs`; `left_only`, `right_only`: runs of one side."""

    left: str
    right: str
    recipes: RecipeDifferences
    runs: list[RunDifference]
    flips: list[Flips]
    left_only: list[Names]
    right_only: list[Names]


def differences(left: Side, right: Side) -> Differences:
    """Compare two sides."""
    pairs = paired(left.runs, right.runs)
    flipped = [flips(read_runs(left.runs[one]), read_runs(right.runs[other])) for one, other in pairs.both]
    compared = recipe_differences(left, right), run_differences(left, right), flipped
    return Differences(left.name, right.name, *compared, pairs.left, pairs.right)


def as_json(given: Differences) -> str:
    """Return differences as JSON."""
    recipes = given.recipes._asdict() | {"keys": [one._asdict() for one in given.recipes.keys]}
    names = {"a": given.left, "b": given.right, "a_only": given.left_only, "b_only": given.right_only}
    runs = [
        one._asdict() | {"costs": [cost._asdict() for cost in one.costs], "flips": flipped._asdict()}
        for one, flipped in zip(given.runs, given.flips, strict=True)
    ]
    return json.dumps({**names, "recipes": recipes, "runs": runs}, indent=1) + "\n"


def print_differences(to: Console, compared: Differences) -> None:
    """Print recipes, scores, documents and cost."""
    to.print(f"A: {compared.left}\nB: {compared.right}")
    _print_recipes(to, compared)
    if not compared.runs:
        to.print("\nNo run has records on both sides, so there are no scores to compare.")
    else:
        _print_scores(to, compared)
        _print_documents(to, compared)
        _print_cost(to, compared)
    for side, names in (("A", compared.left_only), ("B", compared.right_only)):
        if names:
            to.print(f"Runs with records of {side} only: {_listed(map('/'.join, names))}")


def _print_recipes(to: Console, compared: Differences) -> None:
    recipes = compared.recipes
    to.print(Text("\nRecipes", style="bold"))
    if recipes.keys:
        made = table("recipe", "key", "A", "B", "in")
        for one in recipes.keys:
            made.add_row(one.kind, one.key, one.left, one.right, _listed(one.where, 1))
        to.print(made)
    else:
        to.print(f"No key differs in {counted(recipes.compared, 'recipe')}.")
    for side, names in (("A", recipes.left), ("B", recipes.right)):
        if names:
            to.print(f"Only {side} has {_listed(map('/'.join, names))}")


def _print_scores(to: Console, compared: Differences) -> None:
    made = table("runs", "metric", "A", "B", "B - A", "95 % interval", "p", "note")
    for one in compared.runs:
        shown = ["—" if score is None else number(score) for score in one.scores]
        gap = "—" if one.difference is None else signed(one.difference)
        span = f"{signed(one.interval[0])} to {signed(one.interval[1])}" if one.interval else "—"
        p = "—" if one.p is None else p_value(one.p)
        texts = [f"{score} ({counted(runs, 'run')})" for score, runs in zip(shown, one.runs, strict=True)]
        made.add_row(one.common, metric(one.metric), *texts, gap, span, p, one.why)
    to.print(Text("\nScores", style="bold"))
    to.print(made)


def _print_documents(to: Console, compared: Differences) -> None:
    made = table("runs", "of", "right in B only", "right in A only", "note")
    for one, flipped in zip(compared.runs, compared.flips, strict=True):
        shown = [counted(flipped.units, flipped.unit), *map(_with_count, (flipped.gained, flipped.lost))]
        made.add_row(one.common, *(["—"] * 3 if flipped.why else shown), flipped.why)
    to.print(Text("\nDocuments", style="bold"))
    to.print(made)


def _print_cost(to: Console, compared: Differences) -> None:
    made = table("side", "runs", "time", "time of a run", "tokens", "device")
    for side, name in enumerate("AB"):
        total = _together([one.costs[side] for one in compared.runs])
        mean = duration(total.seconds / total.runs) if total.runs else "—"
        tokens = "not recorded" if total.tokens is None else count(total.tokens)
        made.add_row(name, str(total.runs), duration(total.seconds), mean, tokens, "; ".join(total.devices))
    to.print(Text("\nCost of these runs", style="bold"))
    to.print(made)


def _together(costs: Sequence[Cost]) -> Cost:
    tokens = [one.tokens for one in costs if one.tokens is not None]
    runs, seconds = sum(one.runs for one in costs), sum(one.seconds for one in costs)
    devices = sorted({device for one in costs for device in one.devices})
    return Cost(runs, seconds, sum(tokens) if len(tokens) == len(costs) else None, tuple(devices))


def _with_count(ids: Sequence[str]) -> str:
    return f"{len(ids)}: {_listed(ids)}" if ids else "0"


def _listed(names: Iterable[str], most: int = SHOWN) -> str:
    """Return the first names, and how many more there are."""
    items = list(names)
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more

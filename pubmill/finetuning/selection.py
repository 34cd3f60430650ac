"""The choice of one grid point for a dataset from its trials' dev scores. Standard library only."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError

STEPS = "stop_after"
"""The key that is no part of a grid: the steps after which the chosen point was best on dev, the mean of its
trials. It is for data without a dev of their own (lewis2020 section 5.2)."""

Training = tuple[Path, dict[str, Any]]
"""A trial's training.json and its content."""
Point = dict[str, Any]
"""A value for each key that was searched."""


def select(trials: Iterable[Training], decides: Sequence[str]) -> dict[str, Any]:
    """Choose the grid point of the best dev score, averaged over models and seeds (gu2020 section 6.2).

    `trials` come in the order of the grid, whose keys are `decides` (less `stop_after`, if it is among
    them); of equal points the first is chosen. Every point must have been tried with the same models and
    seeds on the same data. A point of which a trial ended in NaN has no mean and is not chosen; a trial
    that predicts the same of every example has a dev score like any other.
    Returns `{"chosen": {a value for each of `decides`}, "mean_dev", "considered": [every point with its
    mean_dev, trials and failed]}`.
    """
    searched = [key for key in decides if key != STEPS]
    points = _by_point(trials, searched)
    _check_same([trial for _, tried in points for trial in tried], searched)
    _check_complete(points)
    considered = [_average(point, tried) for point, tried in points]
    candidates = [number for number, point in enumerate(considered) if point["mean_dev"] is not None]
    if not candidates:
        paths = ", ".join(str(path) for _, tried in points for path, _ in tried)
        raise PubmillError(
            f"no grid point can be chosen: each one has a failed trial ({paths}); lower the learning rates"
        )
    best = max(candidates, key=lambda number: considered[number]["mean_dev"])  # the first of equals
    chosen, tried = points[best]
    if STEPS in decides:
        chosen = {**chosen, STEPS: _steps(tried)}
    return {"chosen": chosen, "mean_dev": considered[best]["mean_dev"], "considered": considered}


def read_decides(text: str) -> list[str]:
    """The keys that the choice decides, from --recipe."""
    try:
        recipe: Any = json.loads(text)
    except json.JSONDecodeError:
        recipe = None
    if not isinstance(recipe, dict) or recipe.keys() != {"by", "decides"}:
        raise PubmillError(f'--recipe is not a JSON object with the keys "by" and "decides": {text}')
    if recipe["by"] != "dev":
        raise PubmillError(f'--recipe: "by" is {recipe["by"]!r}; trials are selected by "dev" only')
    decides = recipe["decides"]
    if not isinstance(decides, list) or not decides or not all(isinstance(key, str) for key in decides):
        raise PubmillError(f'--recipe: "decides" is {decides!r}; it must be a list of keys of the recipe')
    return decides


def chosen_values(path: Path, selected: Any) -> Point:
    """What a selected.json decides; a `PubmillError` names the file that is none."""
    chosen = selected.get("chosen") if isinstance(selected, dict) else None
    if not isinstance(chosen, dict):
        raise PubmillError(f'{path} has no "chosen" values; scripts/select_trial.py writes such a file')
    return chosen


def _by_point(trials: Iterable[Training], searched: Sequence[str]) -> list[tuple[Point, list[Training]]]:
    """The trials of each point, in the order in which points first come."""
    points: dict[str, tuple[Point, list[Training]]] = {}
    for path, training in trials:
        if unknown := [key for key in searched if key not in training["recipe"]]:
            raise PubmillError(
                f"{path}: its recipe has no {', '.join(unknown)}, which --recipe says was searched"
            )
        point = {key: training["recipe"][key] for key in searched}
        points.setdefault(json.dumps(point), (point, []))[1].append((path, training))
    return list(points.values())


def _average(point: Point, tried: list[Training]) -> dict[str, Any]:
    failed = sum(training["failed"] == "nan" for _, training in tried)
    scores = [training["dev"]["best"] for _, training in tried]
    mean = None if failed else sum(scores) / len(scores)
    return {**point, "mean_dev": mean, "trials": len(tried), "failed": failed}


def _steps(tried: list[Training]) -> int:
    """Steps until the best dev score, the mean of trials; at least one."""
    best: list[int] = [training["dev"]["best_step"] for _, training in tried]
    return max(1, round(sum(best) / len(best)))


def _check_same(trials: list[Training], searched: Sequence[str]) -> None:
    """All trials must be of one dataset and differ in nothing but what the search decides."""
    if not trials:
        raise PubmillError("there are no trials to select from; --trials needs at least one training.json")
    (first_path, first), *others = trials
    for path, training in others:
        names = sorted(first["data_sha256"].keys() | training["data_sha256"].keys())
        pairs = [
            *((f"{name} data", *(t["data_sha256"].get(name) for t in (first, training))) for name in names),
            (
                "recipe",
                *({k: v for k, v in t["recipe"].items() if k not in searched} for t in (first, training)),
            ),
        ]
        for name, mine, theirs in pairs:
            if mine != theirs:
                raise PubmillError(
                    f"{first_path} and {path} differ in their {name} ({mine} and {theirs}), so their "
                    f"dev scores can't be compared; run the older trial again"
                )


def _check_complete(points: list[tuple[Point, list[Training]]]) -> None:
    """Every point must have been tried once with each of the same models and seeds."""
    tried_with = [
        (point, sorted((training["model"], training["seed"]) for _, training in tried))
        for point, tried in points
    ]
    expected = sorted({who for _, tried in tried_with for who in tried})
    for point, found in tried_with:
        if found != expected:
            named = ", ".join(f"{key} {value}" for key, value in point.items()) or "of no values"
            raise PubmillError(
                f"the grid point {named} was tried with (model, seed) {found}, but {expected} is needed, "
                f"each once, for its mean to be comparable; run the missing trials"
            )

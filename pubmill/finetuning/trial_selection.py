"""Choice of one grid point for a dataset from its trials' dev scores."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

from pubmill.errors import PubmillError
from pubmill.metrics.collapse import failure_of
from pubmill.storage.files import read_json

STEPS = "stop_after"
"""A key outside of grids: the number of steps after which the chosen point was best on dev, averaged over its
trials. For data without a dev split (lewis2020 section 5.2)."""

FOUND = ("mean_dev", "trials", "failed")
"""Fields of a considered point besides its values."""
NEEDED = {"recipe": dict, "data_sha256": dict, "dev": dict, "model": object, "seed": object, "failed": object}
"""Fields that are read from a trial's training.json, and their types."""

Training = tuple[Path, Mapping[str, Any]]
"""A trial's training.json and its content."""
Point = dict[str, Any]
"""A value for each searched key."""


class Selection(TypedDict):
    """Content of selected.json. `chosen`: the value of each decided key, and `mean_dev`: its mean dev score;
    both None if all trials failed. `failed`: why the first trial failed, if all did. `considered`: every
    point with its `FOUND`."""

    chosen: Point | None
    failed: str | None
    mean_dev: float | None
    considered: list[Point]


def select(trials: Iterable[Training], decides: Sequence[str]) -> Selection:
    """Choose the grid point with the best dev score, averaged over models and seeds (gu2020 section 6.2).

    `trials` are in the order of the grid, whose keys are `decides` (except `stop_after`); of equal points the
    first is chosen. Every point must have been tried with the same models and seeds on the same data. Means
    are over the trials that did not fail, and only points with the fewest failed trials are candidates: a
    point with a failed trial is not chosen if others have none. A trial with constant predictions has a dev
    score like any other.
    """
    searched = [key for key in decides if key != STEPS]
    points = _group_by_point(trials, searched)
    _check_same([trial for _, tried in points for trial in tried], searched)
    _check_complete(points)
    considered = []
    for point, tried in points:
        scores = _dev_values(tried, "best")
        mean = sum(scores) / len(scores) if scores else None
        failed = len(tried) - len(scores)
        considered.append({**point, "mean_dev": mean, "trials": len(tried), "failed": failed})
    scored = [number for number, point in enumerate(considered) if point["mean_dev"] is not None]
    if not scored:
        reason = failure_of(points[0][1][0][1])
        return {"chosen": None, "failed": reason, "mean_dev": None, "considered": considered}
    # The first of equals.
    best = max(scored, key=lambda number: (-considered[number]["failed"], considered[number]["mean_dev"]))
    chosen, tried = points[best]
    if STEPS in decides:
        steps = _dev_values(tried, "best_step")
        chosen = {**chosen, STEPS: max(1, round(sum(steps) / len(steps)))}
    mean = considered[best]["mean_dev"]
    return {"chosen": chosen, "failed": None, "mean_dev": mean, "considered": considered}


def read_choice(path: Path) -> tuple[Point, str | None]:
    """Return the chosen values for the recipe, and why all trials failed, else None. If all trials failed,
    the values are those of the first trial, because the recipe must still be valid."""
    selected: Any = read_json(path)
    record = selected if isinstance(selected, dict) else {}
    chosen, failed, considered = (record.get(key) for key in ("chosen", "failed", "considered"))
    if isinstance(chosen, dict):
        return chosen, None
    first = considered[0] if isinstance(considered, list) and considered else None
    if not isinstance(failed, str) or not isinstance(first, dict):
        raise PubmillError(f'{path} has no "chosen" values; the stage choose writes such a file')
    return {key: value for key, value in first.items() if key not in FOUND}, failed


def _group_by_point(
    trials: Iterable[Training], searched: Sequence[str]
) -> list[tuple[Point, list[Training]]]:
    """Group the trials by point, in the order in which points first appear."""
    points: dict[str, tuple[Point, list[Training]]] = {}
    for path, training in trials:
        known = training if isinstance(training, dict) else {}
        if lacks := [key for key, form in NEEDED.items() if not isinstance(known.get(key, ...), form)]:
            fault = f"has no {', '.join(lacks)}, or of another form"
            raise PubmillError(f"{path} {fault}, so it is no training.json of a trial; run the trial again")
        values = training["recipe"]
        if unknown := [key for key in searched if key not in values]:
            raise PubmillError(
                f"{path}: its recipe has no {', '.join(unknown)}, which --recipe says was searched"
            )
        point = {key: values[key] for key in searched}
        points.setdefault(json.dumps(point), (point, []))[1].append((path, training))
    return list(points.values())


def _dev_values(tried: list[Training], key: str) -> list[float]:
    """Return the value `key` of the dev scores of each trial that did not fail."""
    values = []
    for path, training in tried:
        if failure_of(training) is not None:
            continue
        value = training["dev"].get(key)
        if not isinstance(value, (int, float)):
            raise PubmillError(
                f"{path}: dev has no {key}, so it can't be chosen by; run the trial with a dev split"
            )
        values.append(value)
    return values


def _check_same(trials: list[Training], searched: Sequence[str]) -> None:
    """Check that all trials use one dataset and differ only in the searched keys."""
    if not trials:
        raise PubmillError("there are no trials to select from; --trials needs at least one training.json")
    (first_path, first), *others = trials
    for path, training in others:
        names = sorted(first["data_sha256"].keys() | training["data_sha256"].keys())
        compared = {f"{name} data": [t["data_sha256"].get(name) for t in (first, training)] for name in names}
        recipes = (first["recipe"], training["recipe"])
        compared["recipe"] = [{key: one[key] for key in one if key not in searched} for one in recipes]
        for name, (mine, theirs) in compared.items():
            if mine != theirs:
                raise PubmillError(
                    f"{first_path} and {path} differ in their {name} ({mine} and {theirs}), so their "
                    f"dev scores can't be compared; run the older trial again"
                )


def _check_complete(points: list[tuple[Point, list[Training]]]) -> None:
    """Check that every point was tried exactly once with each of the same models and seeds."""
    tried_with = [sorted((one["model"], one["seed"]) for _, one in tried) for _, tried in points]
    expected = sorted({who for found in tried_with for who in found})
    for (point, _), found in zip(points, tried_with, strict=True):
        if found != expected:
            named = ", ".join(f"{key} {value}" for key, value in point.items()) or "of no values"
            raise PubmillError(
                f"the grid point {named} was tried with (model, seed) {found}, but {expected} is needed, "
                f"each once, for its mean to be comparable; run the missing trials"
            )

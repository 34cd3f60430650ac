"""The choice of one grid point for a dataset from its trials' dev scores. Standard library only."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError

DECIDED = ("learning_rate", "batch_size", "epochs")
"""The hyperparameters that the search decides; epochs is the protocol's maximum, of which each run
keeps the best on dev."""

Training = tuple[Path, dict[str, Any]]
"""A trial's training.json and its content."""


def select(trials: Iterable[Training]) -> dict[str, Any]:
    """Choose the grid point of the best dev score, averaged over models and seeds (gu2020 section 6.2).

    `trials` come in the order of the grid; of equal points the first is chosen. Every point must
    have been tried with the same models and seeds on the same data. A point of which a trial ended
    in NaN has no mean and is not chosen.
    Returns `{"learning_rate", "batch_size", "epochs", "mean_dev", "considered": [every point with
    its mean_dev, trials and failed]}`.
    """
    points: dict[tuple[Any, ...], list[Training]] = {}
    for path, training in trials:
        points.setdefault(tuple(training["recipe"][key] for key in DECIDED), []).append((path, training))
    _check_same([trial for tried in points.values() for trial in tried])
    _check_complete(points)
    considered = [_average(point, tried) for point, tried in points.items()]
    candidates = [point for point in considered if point["mean_dev"] is not None]
    if not candidates:
        paths = ", ".join(str(path) for tried in points.values() for path, _ in tried)
        raise PubmillError(
            f"no grid point can be chosen: each one has a failed trial ({paths}); lower the learning rates"
        )
    best = max(candidates, key=lambda point: point["mean_dev"])  # the first of equals
    return {**{key: best[key] for key in (*DECIDED, "mean_dev")}, "considered": considered}


def _average(point: tuple[Any, ...], tried: list[Training]) -> dict[str, Any]:
    failed = sum(training["failed"] == "nan" for _, training in tried)
    scores = [training["dev"]["best"] for _, training in tried]
    mean = None if failed else sum(scores) / len(scores)
    decided = dict(zip(DECIDED, point, strict=True))
    return {**decided, "mean_dev": mean, "trials": len(tried), "failed": failed}


def _check_same(trials: list[Training]) -> None:
    """All trials must be of one dataset and differ in nothing but what the search decides."""
    if not trials:
        raise PubmillError("there are no trials to select from; --trials needs at least one training.json")
    (first_path, first), *others = trials
    for path, training in others:
        for name, mine, theirs in (
            ("training data", first["data_sha256"]["train"], training["data_sha256"]["train"]),
            ("dev data", first["data_sha256"]["dev"], training["data_sha256"]["dev"]),
            ("recipe", _undecided(first), _undecided(training)),
        ):
            if mine != theirs:
                raise PubmillError(
                    f"{first_path} and {path} differ in their {name} ({mine} and {theirs}), so their "
                    f"dev scores can't be compared; run the older trial again"
                )


def _undecided(training: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in training["recipe"].items() if key not in DECIDED}


def _check_complete(points: dict[tuple[Any, ...], list[Training]]) -> None:
    """Every point must have been tried once with each of the same models and seeds."""
    tried_with = {
        point: sorted((training["model"], training["seed"]) for _, training in tried)
        for point, tried in points.items()
    }
    expected = sorted({who for tried in tried_with.values() for who in tried})
    for point, found in tried_with.items():
        if found != expected:
            named = ", ".join(f"{key} {value}" for key, value in zip(DECIDED, point, strict=True))
            raise PubmillError(
                f"the grid point {named} was tried with (model, seed) {found}, but {expected} is needed, "
                f"each once, for its mean to be comparable; run the missing trials"
            )

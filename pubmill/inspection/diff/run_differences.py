"""Scores, documents and cost of paired runs."""

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pandas import DataFrame
from pydantic import BaseModel, ConfigDict

from pubmill.examples.kinds import KINDS, Example, RegressionExample, read_examples
from pubmill.inspection.diff.sides import Names, Side, paired
from pubmill.metrics import METRICS, is_right, plain_prediction
from pubmill.metrics.contributions import read_items, units_of
from pubmill.metrics.records import ID, Record, read_predictions, read_record
from pubmill.recipes.tables import Aggregate, Row
from pubmill.statistics.resampling import RESAMPLINGS, Fold, bootstrap, compare, interval, observed
from pubmill.storage.files import read_json, sha256
from pubmill.storage.names_in_paths import run_of
from pubmill.storage.result_paths import BELOW, PREDICTIONS, RECORD, TRAINING, Paths
from pubmill.tables.cells import parse
from pubmill.tables.comparisons import row_folds


class TrainedTokens(BaseModel):
    """The part of `seed-N.training.json` on the size of a training."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    tokens: int | None = None


class Cost(NamedTuple):
    """The cost of fine-tunings: seconds, tokens (None if a run has no count), and devices."""

    runs: int
    seconds: float
    tokens: int | None
    devices: tuple[str, ...]


class RunDifference(NamedTuple):
    """Runs of one dataset on both sides, in points (0..100). `left`, `right`: names; `scores`: None where
    there is none; `difference`: right minus left; `interval`: at 95 % over seeds and documents; `p`: of the
    paired bootstrap over documents, None if the documents differ; `why`: why something is absent."""

    left: str
    right: str
    metric: str
    runs: tuple[int, int]
    scores: tuple[float | None, float | None]
    difference: float | None
    interval: tuple[float, float] | None
    p: float | None
    why: str
    costs: tuple[Cost, Cost]

    @property
    def common(self) -> str:
        """The parts that both names have in common."""
        pairs = zip(self.left.split("/"), self.right.split("/"), strict=True)
        return "/".join(one for one, other in pairs if one == other) or self.right


class FinishedRuns(NamedTuple):
    """Records with their paths, without failed runs; `failed`: the number of these."""

    paths: list[Path]
    records: list[Record]
    failed: int


Sides = tuple[FinishedRuns, FinishedRuns]


def run_differences(left: Side, right: Side) -> list[RunDifference]:
    """Compare the runs that two sides have in common."""
    aggregates = {**left.aggregates, **right.aggregates}
    differences = []
    for one, other in paired(left.runs, right.runs).both:
        sides = read_runs(left.runs[one]), read_runs(right.runs[other])
        differences.append(_run_difference(one, other, sides, aggregates.get(other[0], "mean")))
    return differences


def read_runs(paths: Sequence[Path]) -> FinishedRuns:
    """Read records."""
    records = [read_record(path) for path in paths]
    sound = [number for number, record in enumerate(records) if record.failed is None]
    return FinishedRuns([paths[n] for n in sound], [records[n] for n in sound], len(records) - len(sound))


def _run_difference(left: Names, right: Names, sides: Sides, aggregate: Aggregate) -> RunDifference:
    costs = _cost(sides[0]), _cost(sides[1])
    names = "/".join(left), "/".join(right)
    runs = len(sides[0].records), len(sides[1].records)
    failed = sum(side.failed for side in sides)
    why = f"{failed} failed runs left out" if failed else ""
    metrics = sorted({record.metric for side in sides for record in side.records})
    empty = RunDifference(*names, "", runs, (None, None), None, None, None, why, costs)
    if not all(runs):
        return empty._replace(why="no run without a failure on one side")
    if len(metrics) > 1:
        return empty._replace(why=f"scored with different metrics: {', '.join(metrics)}")
    return _compared(empty._replace(metric=metrics[0]), sides, aggregate)


def _compared(difference: RunDifference, sides: Sides, aggregate: Aggregate) -> RunDifference:
    """Return a difference with its scores and interval, paired if both sides have the same examples."""
    function = METRICS[difference.metric].function
    generator = np.random.default_rng(zlib.crc32(f"{difference.left} {difference.right}".encode()))
    if same_examples(sides):
        folds = _folds(difference.metric, dict(zip(("left", "right"), sides, strict=True)))
        scores = observed(folds, function, aggregate)
        [one] = compare(folds, function, aggregate, 1, generator).values()
        spread, p = one.interval, one.bootstrap_p
    else:
        single = [_folds(difference.metric, {"one": side}) for side in sides]
        scores = np.concatenate([observed(folds, function, aggregate) for folds in single])
        drawn = [bootstrap(folds, function, aggregate, generator, RESAMPLINGS)[1][:, 0] for folds in single]
        spread, p = interval(drawn[1] - drawn[0]), None
        reasons = filter(None, [difference.why, "scored on different examples, so not paired"])
        difference = difference._replace(why="; ".join(reasons))
    return difference._replace(
        scores=(100 * float(scores[0]), 100 * float(scores[1])),
        difference=100 * float(scores[1] - scores[0]),
        interval=spread and (100 * spread[0], 100 * spread[1]),
        p=p,
    )


def same_examples(sides: Sides) -> bool:
    """Return whether all runs were scored on the same examples."""
    return len({(one.data_sha256, one.dataset, one.split) for side in sides for one in side.records}) == 1


def _folds(metric: str, sides: dict[str, FinishedRuns]) -> list[Fold]:
    """Return the contributions of the documents to the runs of some sides, as columns."""
    files = [(name, path) for name, side in sides.items() for path in side.paths]
    rows = [(name, run_of(path).dataset, str(path.absolute())) for name, path in files]
    runs = DataFrame(rows, columns=["column", "dataset", "record"])
    runs["dataset"] = runs["dataset"].iloc[0]
    row = Row(key="diff", label="diff", metric=metric, published="", printed=metric)
    return row_folds(row, runs, list(sides), Path())[0]


def _cost(side: FinishedRuns) -> Cost:
    tokens = [_tokens(path) for path in side.paths]
    counted = [one for one in tokens if one is not None]
    seconds = sum(record.seconds for record in side.records)
    devices = tuple(sorted({_device(record) for record in side.records}))
    whole = sum(counted) if counted and len(counted) == len(tokens) else None
    return Cost(len(side.records), seconds, whole, devices)


def _tokens(record: Path) -> int | None:
    """Return the number of tokens that a run was trained on, from its trainer's notes beside the record."""
    notes = record.with_name(record.name.removesuffix(RECORD) + TRAINING)
    return parse(TrainedTokens, read_json(notes), str(notes)).tokens if notes.is_file() else None


def _device(record: Record) -> str:
    """Return the device of a run in words: its GPUs, or its processor."""
    hardware = record.hardware
    listed = hardware.get("gpus") or []
    gpus = [str(one.get("name", one)) if isinstance(one, dict) else str(one) for one in listed]
    names = ", ".join(f"{gpus.count(name)} x {name}" for name in dict.fromkeys(gpus))
    return names or f"{hardware.get('cpu', 'unknown processor')}, {hardware.get('cores', '?')} cores"


HIDDEN = "(an id that may be text)"


class Flips(NamedTuple):
    """Documents that differ. `unit`: their kind; `units`: how many there are; `gained`: ids of those that are
    right in B only; `lost`: in A only; `why`: why they were not compared."""

    unit: str = ""
    units: int = 0
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    why: str = ""


def flips(left: FinishedRuns, right: FinishedRuns) -> Flips:
    """Compare the predictions of two sides, document by document."""
    if not left.records or not right.records:
        return Flips(why="no run without a failure on one side")
    if not same_examples((left, right)):
        return Flips(why="scored on different examples")
    examples = _examples_file(left) or _examples_file(right)
    if examples is None:
        return Flips(why="the scored examples are not in the results any more")
    if lacking := [path for path in (*left.paths, *right.paths) if not _predictions(path).is_file()]:
        return Flips(why=f"there is no {_predictions(lacking[0])}")
    kind = read_items(Path(BELOW.contributions(str(left.paths[0])))).kind
    gold = list(read_examples(examples, KINDS[kind]))
    if isinstance(gold[0], RegressionExample):
        return Flips(why="predictions are numbers, of which none is simply right")
    return _flips(gold, left, right)


def _flips(gold: Sequence[Example], left: FinishedRuns, right: FinishedRuns) -> Flips:
    units = units_of(gold)
    names: dict[int, str] = {}
    for number, example in zip(units.numbers, gold, strict=True):
        own = example.document if units.each == "document" else getattr(example, "group", None)
        names.setdefault(number, own or example.id)
    first, second = (_right_units(gold, units.numbers, side.paths) for side in (left, right))
    shown = {number: name if ID.fullmatch(name) else HIDDEN for number, name in names.items()}
    changed = (second - first, first - second)
    gained, lost = (tuple(shown[number] for number in sorted(numbers)) for numbers in changed)
    return Flips(units.each, len(names), gained, lost)


def _right_units(gold: Sequence[Example], units: Sequence[int], records: Sequence[Path]) -> set[int]:
    """Return the units that are right in more than half of the runs."""
    counts = dict.fromkeys(units, 0)
    for path in records:
        predicted = read_predictions(_predictions(path), gold)
        items = zip(units, gold, predicted, strict=True)
        wrong = {unit for unit, example, one in items if not is_right(example, plain_prediction(one))}
        for unit in counts.keys() - wrong:
            counts[unit] += 1
    return {unit for unit, count in counts.items() if 2 * count > len(records)}


def _predictions(record: Path) -> Path:
    return record.with_name(record.name.removesuffix(RECORD) + PREDICTIONS)


def _examples_file(side: FinishedRuns) -> Path | None:
    """Return the examples that the runs of a side were scored on, in the results folder of its records."""
    runs = next((folder for folder in side.paths[0].absolute().parents if folder.name == "runs"), None)
    if runs is None:
        return None
    path = Path(Paths(runs.parent).examples(side.records[0].dataset, side.records[0].split))
    return path if path.is_file() and sha256(path) == side.records[0].data_sha256 else None

"""Documents that one side predicts right and the other does not.

A document (or question, or example, whichever is resampled in comparisons) is right in a run if every
prediction of its examples is right in every part, and right on a side if it is so in more than half of the
runs. Only counts and ids are returned, and an id only if it cannot be text.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pubmill.examples.kinds import KINDS, Example, RegressionExample, read_examples
from pubmill.inspection.diff.run_differences import FinishedRuns, same_examples
from pubmill.metrics import is_right
from pubmill.metrics.contributions import read_items, units_of
from pubmill.metrics.records import ID, read_predictions
from pubmill.storage.files import sha256
from pubmill.storage.result_paths import BELOW, PREDICTIONS, RECORD, Paths

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
    lacking = [path for path in (*left.paths, *right.paths) if not _predictions(path).is_file()]
    if lacking:
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
    return Flips(
        unit=units.each,
        units=len(names),
        gained=tuple(shown[number] for number in sorted(second - first)),
        lost=tuple(shown[number] for number in sorted(first - second)),
    )


def _right_units(gold: Sequence[Example], units: Sequence[int], records: Sequence[Path]) -> set[int]:
    """Return the units that are right in more than half of the runs."""
    counts = dict.fromkeys(units, 0)
    for path in records:
        predicted = read_predictions(_predictions(path), gold)
        wrong = {
            unit
            for unit, example, one in zip(units, gold, predicted, strict=True)
            if not is_right(example, _plain(one))
        }
        for unit in counts.keys() - wrong:
            counts[unit] += 1
    return {unit for unit, count in counts.items() if 2 * count > len(records)}


def _plain(predicted: Any) -> Any:
    """Return a prediction as gold is written: a ranking of answers as their texts."""
    is_ranking = isinstance(predicted, list) and predicted and isinstance(predicted[0], tuple)
    return [text for text, _ in predicted] if is_ranking else predicted


def _predictions(record: Path) -> Path:
    return record.with_name(record.name.removesuffix(RECORD) + PREDICTIONS)


def _examples_file(side: FinishedRuns) -> Path | None:
    """Return the examples that the runs of a side were scored on, in the results folder of its records."""
    runs = next((folder for folder in side.paths[0].absolute().parents if folder.name == "runs"), None)
    if runs is None:
        return None
    path = Path(Paths(runs.parent).examples(side.records[0].dataset, side.records[0].split))
    return path if path.is_file() and sha256(path) == side.records[0].data_sha256 else None

"""What each document of a test set adds to a run's metrics.

Every metric here is a function of totals over examples: of entities found, of the words of a class, of
products of scores. With each document's part of these totals beside a record (`seed-N.items.npz`), a metric
can be computed anew for any resampling of the documents, without gold, predictions or text.
"""

import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pubmill.annotation.examples import Example
from pubmill.errors import PubmillError
from pubmill.storage.files import writing

Array = NDArray[np.float64]

Columns = Mapping[str, Sequence[float]]
"""Name of a total -> what each example adds to it."""

Totals = Mapping[str, Array]
"""Name -> the total, in any number of resamplings; all of one shape."""

Measure = Callable[[Totals], dict[str, Array]]
"""Totals -> metrics (0..1; `pearson` -1..1), of the totals' shape; nan where a metric isn't defined."""


@dataclass(frozen=True, slots=True, eq=False)
class Contributions:
    """`values` [units, names]: what each unit adds to each total."""

    names: tuple[str, ...]
    values: Array

    def totals(self, weights: Array | None = None) -> dict[str, Array]:
        """The totals of the test set; with `weights` [resamplings, units], how often each unit was drawn,
        those of each resampling."""
        summed = self.values.sum(axis=0) if weights is None else (weights @ self.values).T
        return dict(zip(self.names, summed, strict=True))


class Units(NamedTuple):
    """What of a test set is drawn as a whole: each a `document`, `question` or `example`. `numbers`: of
    each example, the number of its unit."""

    each: str
    numbers: list[int]


class Scored(NamedTuple):
    """A run's metrics that are defined, the counts behind them, and what each unit adds to these."""

    metrics: dict[str, float]
    counts: dict[str, int]
    contributions: Contributions


class Items(NamedTuple):
    """The contributions of units that each are a `unit`, of a split of `data_sha256` whose examples are of
    `kind`; those of a failed run are None."""

    kind: str
    unit: str
    data_sha256: str
    contributions: Contributions | None


class _Watched(Mapping[str, Array]):
    """Totals that remember which of them were looked at."""

    def __init__(self, totals: Totals) -> None:
        self.totals, self.seen = totals, set[str]()

    def __getitem__(self, name: str) -> Array:
        self.seen.add(name)
        return self.totals[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.totals)

    def __len__(self) -> int:
        return len(self.totals)


def needed(function: Callable[[Totals], Any], contributions: Contributions) -> Contributions:
    """The totals that a function of totals reads."""
    watched = _Watched(contributions.totals())
    function(watched)
    kept = [number for number, name in enumerate(contributions.names) if name in watched.seen]
    return Contributions(tuple(contributions.names[n] for n in kept), contributions.values[:, kept])


def scored(
    columns: Columns,
    measure: Measure,
    count: Callable[[Totals], dict[str, Any]],
    units: Sequence[int] | None = None,
) -> Scored:
    """Metrics and counts of what the examples, at least one, add up to; by `units`, the number of each
    example's unit (None: each is its own)."""
    by_example = np.array(list(columns.values()), dtype=np.float64).T
    values = np.zeros((max(units) + 1, len(columns))) if units else by_example.copy()
    if units:
        np.add.at(values, units, by_example)
    contributions = Contributions(tuple(columns), values)
    totals = contributions.totals()
    counts = {name: int(value) for name, value in count(totals).items()}
    return Scored(_defined(measure(totals)), counts, contributions)


def _defined(metrics: Mapping[str, Array]) -> dict[str, float]:
    return {name: float(value) for name, value in metrics.items() if not np.isnan(value)}


def together(parts: Sequence[Scored], measure: Measure) -> Scored:
    """Several scorings of the same examples, and the metrics of all their totals; totals of one name are the
    same in all."""
    columns = {
        name: column
        for part in parts
        for name, column in zip(part.contributions.names, part.contributions.values.T, strict=True)
    }
    contributions = Contributions(tuple(columns), np.array(list(columns.values())).T.copy())
    counts = {name: value for part in parts for name, value in part.counts.items()}
    return Scored(_defined(measure(contributions.totals())), counts, contributions)


def units_of(examples: Sequence[Example]) -> Units:
    """What is drawn as a whole, in the order in which it is first met.

    Examples of one `group` are one question. Else those of one document belong together, as what is
    written in it isn't independent; an example is its own document where the source doesn't mark these.
    """
    grouped = any(getattr(example, "group", None) is not None for example in examples)
    keys = [_unit(example, grouped) for example in examples]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    each = "question" if grouped else "document" if all(e.document for e in examples) else "example"
    return Units(each, [numbers[key] for key in keys])


def _unit(example: Example, grouped: bool) -> tuple[str, str]:
    group = getattr(example, "group", None) if grouped else example.document
    return ("own", example.id) if group is None else ("common", group)


def write_items(path: Path, items: Items) -> None:
    """Write a run's contributions as plain arrays; equal ones give equal bytes."""
    found = items.contributions or Contributions((), np.zeros((0, 0)))
    with writing(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(
            file, about=np.array(items[:3]), names=np.array(found.names, dtype=np.str_), values=found.values
        )


def read_items(path: Path) -> Items:
    """Read a run's contributions; a `PubmillError` names a file that isn't of this form."""
    try:
        with np.load(path, allow_pickle=False) as file:
            kind, unit, data = map(str, file["about"])
            names, values = tuple(map(str, file["names"])), file["values"]
    except (OSError, EOFError, KeyError, ValueError, RuntimeError, zlib.error, zipfile.BadZipFile) as error:
        raise PubmillError(f"{path}: no contributions of a run ({error}); score the run again") from None
    if values.dtype != np.float64 or values.ndim != 2 or values.shape[1] != len(names):
        raise PubmillError(f"{path}: expected a column of values for each name; score the run again")
    return Items(kind, unit, data, Contributions(names, values) if names else None)

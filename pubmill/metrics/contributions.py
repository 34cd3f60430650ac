"""Contributions of each document of a test set to a run's metrics.

Every metric here is a function of totals over examples: of entities found, of the words of a class, of
products of scores. Each document's contribution to these totals is stored beside the record
(`seed-N.items.npz`), so that a metric can be recomputed for any resampling of the documents, without gold,
predictions or text.
"""

import hashlib
import zipfile
import zlib
from collections import UserDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pubmill.errors import PubmillError
from pubmill.examples.kinds import Example
from pubmill.storage.files import writing

Array = NDArray[np.float64]

Columns = Mapping[str, Sequence[float]]
"""Name of a total -> contribution of each example."""

Totals = Mapping[str, Array]
"""Name -> total, for one test set or for many resamplings; all have the same shape."""

Function = Callable[[Totals], Array]
"""Totals -> metric (0..1; `pearson` -1..1) with the totals' shape; nan where it is not defined."""

Measure = Callable[[Totals], dict[str, Array]]
"""Totals -> metrics by name."""


@dataclass(frozen=True, slots=True, eq=False)
class Contributions:
    """Contributions of units to totals: `values` [units, names]."""

    names: tuple[str, ...]
    values: Array

    def totals(self) -> dict[str, Array]:
        """Return the totals of the test set."""
        return dict(zip(self.names, self.values.sum(axis=0), strict=True))


class Units(NamedTuple):
    """The units of a test set that are resampled as a whole. `each`: their kind (`document`, `question` or
    `example`); `numbers`: the unit index of each example."""

    each: str
    numbers: list[int]


class Scored(NamedTuple):
    """A run's defined metrics, the counts behind them, and the contribution of each unit."""

    metrics: dict[str, float]
    counts: dict[str, int]
    contributions: Contributions


class Items(NamedTuple):
    """The contributions of a run, None if it failed. `kind`: that of the examples; `unit`: kind of the units;
    `data_sha256`: digest of the scored split."""

    kind: str
    unit: str
    data_sha256: str
    contributions: Contributions | None


class _RecordingTotals(UserDict[str, Array]):
    """Totals that record which of them were read."""

    def __init__(self, totals: Totals) -> None:
        super().__init__(totals)
        self.seen: set[str] = set()

    def __getitem__(self, name: str) -> Array:
        self.seen.add(name)
        return self.data[name]


def contributions_read_by(function: Callable[[Totals], Any], contributions: Contributions) -> Contributions:
    """Select the contributions to the totals that a function reads."""
    totals = _RecordingTotals(contributions.totals())
    function(totals)
    kept = [number for number, name in enumerate(contributions.names) if name in totals.seen]
    return Contributions(tuple(contributions.names[n] for n in kept), contributions.values[:, kept])


def units_of(examples: Sequence[Example]) -> Units:
    """Return the units that are resampled as a whole, in order of first occurrence.

    Examples with the same `group` are one question. Otherwise the examples of a document form a unit, because
    they are not independent; if the source does not mark documents, each example is its own unit.
    """
    grouped = any(getattr(example, "group", None) is not None for example in examples)
    groups = [getattr(one, "group", None) if grouped else one.document for one in examples]
    keys = [
        (group is None, one.id if group is None else group)
        for one, group in zip(examples, groups, strict=True)
    ]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    each = "question" if grouped else "document" if all(e.document for e in examples) else "example"
    return Units(each, [numbers[key] for key in keys])


def write_items(path: Path, items: Items) -> None:
    """Write a run's contributions as plain arrays; equal contributions give equal bytes."""
    columns = items.contributions or Contributions((), np.zeros((0, 0)))
    with writing(path) as temporary, temporary.open("wb") as file:
        about = np.array([*items[:3], _digest(items[:3], columns)])
        np.savez_compressed(
            file, about=about, names=np.array(columns.names, dtype=np.str_), values=columns.values
        )


def _digest(about: Sequence[str], columns: Contributions) -> str:
    """Return the SHA-256 of contributions and of what they are about."""
    text = "\0".join((*about, *columns.names)).encode()
    return hashlib.sha256(text + np.ascontiguousarray(columns.values).tobytes()).hexdigest()


def read_items(path: Path) -> Items:
    """Read a run's contributions; a `PubmillError` names a file that is malformed or does not agree with its
    digest."""
    try:
        with np.load(path, allow_pickle=False) as file:
            kind, unit, data, digest = map(str, file["about"])
            names, values = tuple(map(str, file["names"])), file["values"]
    except (OSError, EOFError, KeyError, ValueError, RuntimeError, zlib.error, zipfile.BadZipFile) as error:
        raise PubmillError(f"{path}: not a file of contributions ({error}); score the run again") from None
    if values.dtype != np.float64 or values.ndim != 2 or values.shape[1] != len(names):
        raise PubmillError(f"{path}: expected a column of values for each name; score the run again")
    columns = Contributions(names, values)
    if digest != _digest((kind, unit, data), columns):
        raise PubmillError(f"{path} is damaged: it does not agree with its SHA-256; score the run again")
    return Items(kind, unit, data, columns if names else None)

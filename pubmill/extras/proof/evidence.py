"""Runs, counts and items of a proof: everything that scores are recomputed from, without text."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pubmill.errors import PubmillError
from pubmill.examples.kinds import KINDS, read_examples
from pubmill.metrics.contributions import Array, Contributions, Items, read_items
from pubmill.metrics.records import Record, read_record
from pubmill.storage.checksums import check_predictions, report_of
from pubmill.storage.files import read_jsonl_gz, sha256
from pubmill.storage.names_in_paths import run_of
from pubmill.storage.privacy import PUBLIC, access_of
from pubmill.storage.result_paths import BELOW

GOLD = {
    "tokens": ("labels", "layers"),
    "sequence": ("label",),
    "multilabel": ("labels",),
    "regression": ("score",),
}
"""Kind -> the fields of its examples that are no text; a kind that is missing has no such items."""
OWN = (
    "metrics", "failed", "split", "versions", "data_sha256", "trained_on_sha256", "model_sha256", "commit",
    "made_by", "collapsed",
)  # fmt: skip
"""Fields of records that a proof holds."""


class ScoredRun(NamedTuple):
    """A record with its path and the contributions of documents to it, None if it failed."""

    path: str
    record: Record
    items: Items


class SetKey(NamedTuple):
    """Runs with the same key were scored on the same units."""

    dataset: str
    data_sha256: str
    kind: str
    unit: str
    units: int


def read_runs(results: Path, records: Iterable[str]) -> list[ScoredRun]:
    """Read the records that exist, each once, with their contributions."""
    runs = []
    for path in dict.fromkeys(records):
        if (results / path).exists():
            items = read_items(results / BELOW.contributions(path))
            record = read_record(results / path)
            if (record.failed is None) != (items.contributions is not None):
                raise PubmillError(f"{results / path}: its contributions are of another run; score it again")
            runs.append(ScoredRun(path, record, items))
    return runs


def by_test_set(runs: Iterable[ScoredRun]) -> dict[SetKey, list[ScoredRun]]:
    """Group the runs that have a score by what was scored."""
    by_set: dict[SetKey, list[ScoredRun]] = {}
    for run in runs:
        if run.items.contributions is not None:
            units = len(run.items.contributions.values)
            key = SetKey(run.record.dataset, run.items.data_sha256, run.items.kind, run.items.unit, units)
            by_set.setdefault(key, []).append(run)
    return by_set


def has_items(key: SetKey, split: str, datasets: Sequence[str], results: Path) -> bool:
    """Return whether a proof holds the items of a test set: its dataset is open, its data bear no label of a
    stricter class, items of its kind are no text, and the scored examples are still those on disk."""
    folder, examples = results / BELOW.dataset(key.dataset), results / BELOW.examples(key.dataset, split)
    if key.dataset not in datasets or key.kind not in GOLD or access_of(folder) != PUBLIC:
        return False
    return examples.exists() and sha256(examples) == key.data_sha256


def count_array(runs: Sequence[ScoredRun], names: Sequence[str]) -> Array:
    """Return the counts [runs, units, names] in the smallest type that holds them exactly."""
    places = {name: place for place, name in enumerate(names)}
    parts = [_contributions(run) for run in runs]
    values = np.zeros((len(parts), len(parts[0].values), len(names)))
    for number, part in enumerate(parts):
        values[number][:, [places[name] for name in part.names]] = part.values
    for small in (np.uint8, np.uint16):
        if values.min(initial=0) >= 0 and values.max(initial=0) <= np.iinfo(small).max:
            shrunk = values.astype(small)
            if (shrunk == values).all():
                return shrunk  # type: ignore[return-value]
    return values


def _contributions(run: ScoredRun) -> Contributions:
    assert run.items.contributions is not None
    return run.items.contributions


def count_names(runs: Iterable[ScoredRun]) -> list[str]:
    """Return the names of all counts of some runs, in order."""
    return sorted({name for run in runs for name in _contributions(run).names})


def masked_names(names: Sequence[str]) -> list[str]:
    """Return names of counts with numbers in the place of labels, which may be of licensed data."""
    labels = sorted({name.split(":", 2)[2] for name in names if name.count(":") >= 2})
    numbers = {label: f"{number:06d}" for number, label in enumerate(labels)}
    parts = (name.split(":", 2) for name in names)
    return [":".join([*part[:2], numbers[part[2]]]) if len(part) == 3 else part[0] for part in parts]


def gold_items(key: SetKey, split: str, results: Path) -> list[dict[str, Any]]:
    """Return ids, documents and gold labels of a test set, in the order of its examples."""
    items = []
    for example in read_examples(results / BELOW.examples(key.dataset, split), KINDS[key.kind]):
        gold = {name: getattr(example, name) for name in GOLD[key.kind]}
        shown = {name: value for name, value in gold.items() if value or name != "layers"}
        items.append({"id": example.id, "document": example.document, **shown})
    return items


def predictions_of(record: str, results: Path) -> Path:
    """Return the predictions of a run; those of records that were only found on disk may be missing."""
    return results / BELOW.predictions(*run_of(record))


def predicted_items(record: str, gold: Sequence[Mapping[str, Any]], results: Path) -> list[dict[str, Any]]:
    """Return the predictions of a run in the order of the gold items, without ids."""
    path = predictions_of(record, results)
    check_predictions(path, report_of(path))
    lines = {line.pop("id"): line for line in read_jsonl_gz(path)}
    return [lines[item["id"]] for item in gold]


def own_fields(results: Path, run: ScoredRun) -> dict[str, object]:
    """Return what a proof holds of a record, with the SHA-256 of the record and of its contributions."""
    return {
        **{name: getattr(run.record, name) for name in OWN},
        "record_sha256": sha256(results / run.path),
        "contributions_sha256": sha256(results / BELOW.contributions(run.path)),
    }

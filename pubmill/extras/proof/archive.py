"""The archive of a proof: everything that scores are recomputed from, without text."""

import gzip
import hashlib
import io
import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import pubmill
from pubmill.errors import PubmillError
from pubmill.examples.kinds import KINDS, read_examples
from pubmill.extras.proof.assembling import assembled
from pubmill.extras.proof.proofs import ProofRecipe
from pubmill.extras.proof.verifier.container import SUMS, pack, spelled, sums
from pubmill.hardware import provenance
from pubmill.metrics.contributions import Array, Contributions, Items, read_items
from pubmill.metrics.records import Record, read_record
from pubmill.storage.checksums import check_predictions, report_of
from pubmill.storage.files import read_json, read_jsonl_gz, sha256, writing
from pubmill.storage.names_in_paths import run_of
from pubmill.storage.privacy import PUBLIC, access_of
from pubmill.storage.result_paths import BELOW

VERIFY, README = "verify.py", "README.md"
FORMAT = 2
COMPRESSION = 6
LARGEST = 1 << 32
"""Size limit of a zip archive without the ZIP64 extension, in bytes."""
Members = dict[str, bytes]
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


def write_proof(recipe: ProofRecipe, specs: Path, results: Path, output: Path) -> None:
    """Write a proof, and beside it its SHA-256 in the form of `sha256sum`."""
    data = proof(recipe, specs, results)
    digest = hashlib.sha256(data).hexdigest()
    for path, content in (
        (output, data),
        (output.with_name(f"{output.name}.sha256"), f"{digest}  {output.name}\n".encode()),
    ):
        with writing(path) as temporary:
            temporary.write_bytes(content)


def proof(recipe: ProofRecipe, specs: Path, results: Path) -> bytes:
    """Return the bytes of a proof; a `PubmillError` names the first missing or wrong file."""
    bases = {name: read_json(results / BELOW.table_basis(name)) for name in recipe.tables}
    members: Members = {
        VERIFY: assembled().encode(),
        README: readme(recipe).encode(),
        "study.json.gz": as_gzip({**study_facts(recipe), **notices(recipe, results)}),
        **table_members(bases, specs, results),
        **run_members(recipe, bases.values(), results),
    }
    try:
        return pack({**members, SUMS: sums(members)})
    except struct.error:
        raise PubmillError(
            f"the proof of {recipe.study} would exceed {LARGEST:,} bytes or 65,535 files, the limits of its "
            "archive; make it for a study with fewer tables"
        ) from None


def study_facts(recipe: ProofRecipe) -> dict[str, object]:
    """Return what a proof states about its study. Resampled tests repeat exactly with this numpy."""
    return {
        "format": FORMAT,
        "study": recipe.study,
        "title": recipe.title,
        "scale": recipe.scale,
        "scale_title": recipe.scale_title,
        "comparable": recipe.comparable,
        "tables": {name: table_files(name) for name in recipe.tables},
        "open_datasets": recipe.open_datasets,
        "pubmill": pubmill.__version__,
        "commit": provenance.commit(),
        "numpy": np.__version__,
    }


def notices(recipe: ProofRecipe, results: Path) -> dict[str, dict[str, dict[str, list[str]]]]:
    """Return `notices`, the retracted or revised documents of open datasets: dataset -> PMID -> marks. Return
    an empty dictionary if they were not looked up, as in a study without a corpus."""
    marks: dict[str, dict[str, list[str]]] = {}
    for path in recipe.notices:
        for name, one in read_json(results / path)["datasets"].items():
            if name in recipe.open_datasets:
                known = marks.setdefault(name, {})
                known.update({notice["pmid"]: notice["marks"] for notice in one["marked"]})
    return {"notices": marks} if recipe.notices else {}


def table_files(table: str) -> dict[str, str]:
    """Return the members of a table, as its files with .gz: what is shown, its comparisons, and its basis."""
    shown, comparisons = BELOW.table(table, "json"), BELOW.comparisons(table, "json")
    basis = BELOW.table_basis(table)
    return {"shown": f"{shown}.gz", "comparisons": f"{comparisons}.gz", "basis": f"{basis}.gz"}


def table_members(bases: Mapping[str, Any], specs: Path, results: Path) -> Members:
    """Return the tables as they are shown, what they are recomputed from, and published values."""
    files = (file for name in bases for file in table_files(name).values())
    members = {file: as_gzip(read_json(results / file.removesuffix(".gz"))) for file in files}
    for name in {*bases, *(other for basis in bases.values() for other in basis["others"])}:
        members[f"published/{name}.csv"] = (specs / f"tables/{name}.published.csv").read_bytes()
    return members


def run_members(recipe: ProofRecipe, bases: Iterable[Any], results: Path) -> Members:
    """Return the runs behind the tables, the counts of their documents and, for open data, their items."""
    recipes = [one["recipe"] for basis in bases for one in (basis, *basis["others"].values())]
    of_rows = (paths for one in recipes for rows in one["records"].values() for paths in rows.values())
    runs = read_runs(results, chain.from_iterable(of_rows))
    known: dict[str, dict[str, object]] = {}
    numbers: dict[str, int] = {}
    for run in runs:
        number = numbers.setdefault(json.dumps(run.record.recipe, sort_keys=True), len(numbers))
        known[run.path] = {**own_fields(results, run), "set": None, "recipe": number}
    members: Members = {}
    sets: list[dict[str, object]] = []
    for key, of_set in by_test_set(runs).items():
        sets.append(_add_set(members, len(sets), key, of_set, recipe, results))
        for place, run in enumerate(of_set):
            items = item_name(run.path) if item_name(run.path) in members else None
            known[run.path] |= {"set": len(sets) - 1, "place": place, "items": items}
    content = {"sets": sets, "runs": known, "recipes": list(map(json.loads, numbers))}
    return {**members, "runs.json.gz": as_gzip(content)}


def _add_set(
    members: Members, number: int, key: SetKey, runs: list[ScoredRun], recipe: ProofRecipe, results: Path
) -> dict[str, object]:
    """Add the counts and items of a test set to the members; return its description."""
    names, counts = count_names(runs), f"counts/{number:04d}.npy.gz"
    members[counts] = as_gzipped_array(count_array(runs, names))
    gold_name, split = None, runs[0].record.split
    shows_labels = has_items(key, split, recipe.open_datasets, results)
    if shows_labels:
        gold_name = f"items/{number:04d}.gold.json.gz"
        gold = gold_items(key, split, results)
        members[gold_name] = as_gzip(gold)
        for run in runs:
            if predictions_of(run.path, results).exists():
                members[item_name(run.path)] = as_gzip(predicted_items(run.path, gold, results))
    return {
        **key._asdict(),
        "counts": counts,
        "names": names if shows_labels else masked_names(names),
        "gold": gold_name,
        "negative": runs[0].record.recipe.get("negative") if shows_labels else None,
    }


def item_name(record: str) -> str:
    """Return the member with the items that a run predicted."""
    return f"items/{record.removesuffix('.json')}.json.gz"


def as_gzip(value: Any) -> bytes:
    """Return gzipped JSON: equal values give equal bytes."""
    return gzip.compress(spelled(value), COMPRESSION, mtime=0)


def as_gzipped_array(values: Array) -> bytes:
    """Return a gzipped array in numpy's own form."""
    raw = io.BytesIO()
    np.save(raw, values, allow_pickle=False)
    return gzip.compress(raw.getvalue(), COMPRESSION, mtime=0)


def readme(recipe: ProofRecipe) -> str:
    """Return the text that stands in the archive."""
    name, names = f"{recipe.study}.proof.zip", ", ".join(recipe.open_datasets)
    return f"""\
# {recipe.title}

Proof of the study "{recipe.study}", {recipe.scale_title}. It holds no text of any dataset.

    unzip {name} verify.py
    python verify.py {name}

recomputes every score, cell, test, rank and verdict of the study's tables of results, and compares. It needs
Python 3.9 or later and numpy. Run a verify.py that you trust, and compare the archive's SHA-256 with the one
that the authors published; docs/proof.md of pubmill describes both.

- `tables/`: the tables as shown, and what they are recomputed from
- `published/`: the published values of the papers
- `runs.json.gz`: metrics, hashes and recipes of runs
- `counts/`: the counts of each document, by test set and run
- `items/`: ids with gold and predicted labels, of these open datasets only: {names or "none"}
"""


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

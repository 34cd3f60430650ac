"""Scored runs as entries of an experiment tracker: parameters, scores and curves."""

import hashlib
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pubmill.metrics.records import Record, read_record
from pubmill.report.run_trainings import TrainingNotes
from pubmill.storage.files import read_json
from pubmill.storage.names_in_paths import run_of
from pubmill.storage.result_paths import BELOW
from pubmill.tables.cells import parse

Curve = tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class TrackedRun:
    """A scored run. `name`: PROTOCOL/MODEL/DATASET/SETTING/SEED; `digest`: SHA-256 of its two files.

    `curves`: training loss by epoch and dev score by step, of finite values. No text of a dataset is in it.
    """

    name: str
    digest: str
    failed: bool
    parameters: dict[str, str]
    tags: dict[str, str]
    scores: dict[str, float]
    curves: dict[str, Curve]


def tracked_run(results: Path, path: str) -> TrackedRun:
    """Read the record at a path below the results, and how its run was trained."""
    run = run_of(path)
    training = results / BELOW.training(*run)
    record, notes = read_record(results / path), parse(TrainingNotes, read_json(training), str(training))
    content = hashlib.sha256((results / path).read_bytes() + training.read_bytes())
    return TrackedRun(
        name="/".join([*run.run, str(run.seed)]),
        digest=content.hexdigest(),
        failed=record.failed is not None,
        parameters=_parameters(record),
        tags=_tags(record),
        scores={f"{record.split}/{name}": value for name, value in (record.metrics or {}).items()},
        curves={
            "train/loss": _finite(enumerate(notes.loss_by_epoch, 1)),
            f"dev/{record.metric}": _finite(zip(notes.dev.steps, notes.dev.scores, strict=True)),
        },
    )


def _parameters(record: Record) -> dict[str, str]:
    """Return what identifies a run, and its recipe; texts as they are, other values as JSON."""
    fields = ("protocol", "model", "dataset", "setting", "scale", "seed")
    named = {name: getattr(record, name) for name in fields} | record.recipe
    return {
        name: value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        for name, value in named.items()
        if value is not None
    }


def _tags(record: Record) -> dict[str, str]:
    named = {
        "commit": record.commit,
        "model_sha256": record.model_sha256,
        "data_sha256": record.data_sha256,
        "device": record.hardware.get("device"),
        "failed": record.failed,
    }
    return {f"pubmill.{name}": str(value) for name, value in named.items() if value is not None}


def _finite(points: Iterable[tuple[int, float | None]]) -> Curve:
    return tuple((step, value) for step, value in points if value is not None and math.isfinite(value))

"""Scored runs as entries of an experiment tracker, MLflow: parameters, scores and curves. MLflow is imported
only here and need not be installed."""

import hashlib
import json
import math
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.messages import commands
from pubmill.metrics.records import Record, read_record
from pubmill.report.run_trainings import TrainingNotes
from pubmill.storage.files import read_json
from pubmill.storage.names_in_paths import run_of
from pubmill.storage.result_paths import BELOW
from pubmill.tables.cells import parse

RUN, DIGEST = "pubmill.run", "pubmill.sha256"
"""Tags of a run in MLflow: its name, and the digest of its files, which is written last."""
LONGEST = 500
"""Characters of a parameter that every MLflow server stores."""

Curve = tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class TrackedRun:
    """A scored run, without text of a dataset. `name`: PROTOCOL/MODEL/DATASET/SETTING/SEED; `digest`: SHA-256
    of its record and training notes; `curves`: training loss by epoch and dev score by step, finite values
    only."""

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
    named = {name: getattr(record, name) for name in ("commit", "model_sha256", "data_sha256", "failed")}
    named["device"] = record.hardware.get("device")
    return TrackedRun(
        name="/".join([*run.run, str(run.seed)]),
        digest=content.hexdigest(),
        failed=record.failed is not None,
        parameters=_parameters(record),
        tags={f"pubmill.{name}": str(value) for name, value in named.items() if value is not None},
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


def _finite(points: Iterable[tuple[int, float | None]]) -> Curve:
    return tuple((step, value) for step, value in points if value is not None and math.isfinite(value))


class MlflowRuns:
    """The runs of one experiment on a tracking server or in a database; the experiment is made if needed."""

    def __init__(self, address: str, experiment: str) -> None:
        self.mlflow = _imported(address)
        with self._plain_errors():
            self.client = self.mlflow.MlflowClient(tracking_uri=address)
            known = self.client.get_experiment_by_name(experiment)
            self.experiment = known.experiment_id if known else self.client.create_experiment(experiment)
            self.present = {run.data.tags[RUN]: run for run in self._runs() if RUN in run.data.tags}

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        """Turn MLflow's exceptions into `PubmillError`, by the first line of their message."""
        try:
            yield
        except self.mlflow.exceptions.MlflowException as error:
            line = str(error).partition("\n")[0]
            raise PubmillError(f"MLflow: {line}. The same command continues") from None

    def _runs(self) -> Iterable[Any]:
        token = None
        while True:
            page = self.client.search_runs([self.experiment], max_results=1000, page_token=token)
            yield from page
            if not (token := page.token):
                return

    def add(self, run: TrackedRun) -> bool:
        """Write a run that is not there, or replace one that differs; return whether anything was written."""
        old = self.present.get(run.name)
        if old and old.data.tags.get(DIGEST) == run.digest:
            return False
        with self._plain_errors():
            if old:
                self.client.delete_run(old.info.run_id)
            tags = {RUN: run.name, **run.tags}
            made = self.client.create_run(self.experiment, run_name=run.name, tags=tags).info.run_id
            self._write(made, run)
            self.client.set_terminated(made, "FAILED" if run.failed else "FINISHED")
            self.client.set_tag(made, DIGEST, run.digest)
        return True

    def _write(self, identifier: str, run: TrackedRun) -> None:
        """Write parameters and values in parts that every server accepts in one request."""
        entities, now = self.mlflow.entities, int(time.time() * 1000)
        points = [(name, value, 0) for name, value in run.scores.items()]
        points += [(name, value, step) for name, curve in run.curves.items() for step, value in curve]
        metrics = [entities.Metric(name, value, now, step) for name, value, step in points]
        params = [entities.Param(name, value[:LONGEST]) for name, value in run.parameters.items()]
        self.client.log_batch(identifier, params=params)
        for first in range(0, len(metrics), 1000):
            self.client.log_batch(identifier, metrics=metrics[first : first + 1000])


def _imported(address: str) -> Any:
    """Return MLflow; the advice without it names the package that the address needs."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    try:
        import mlflow
        import mlflow.entities  # noqa: F401
    except ImportError:
        package = "mlflow-skinny" if address.startswith("http") else "mlflow"
        install = commands.run(commands.program("python"), "-m", "pip", "install", package)
        raise PubmillError(f"MLflow is not installed here. Install it: {install}") from None
    return mlflow

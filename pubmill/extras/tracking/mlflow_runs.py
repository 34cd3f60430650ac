"""Runs in MLflow, which is imported only here and need not be installed."""

import os
import time
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

from pubmill.errors import PubmillError
from pubmill.extras.tracking.tracked_runs import TrackedRun
from pubmill.messages import commands

RUN, DIGEST = "pubmill.run", "pubmill.sha256"
"""Tags of a run in MLflow: its name, and the digest of its files, which is written last."""
LONGEST = 500
"""Characters of a parameter that every MLflow server stores."""

T = TypeVar("T")


def _plainly(call: Callable[..., T]) -> Callable[..., T]:
    """Turn MLflow's exceptions into `PubmillError`, by the first line of their message."""

    @wraps(call)
    def calling(store: "MlflowRuns", *arguments: Any) -> T:
        try:
            return call(store, *arguments)
        except store.mlflow.exceptions.MlflowException as error:
            line = str(error).partition("\n")[0]
            raise PubmillError(f"MLflow: {line}. The same command continues") from None

    return calling


class MlflowRuns:
    """The runs of one experiment on a tracking server or in a database; the experiment is made if needed."""

    def __init__(self, address: str, experiment: str) -> None:
        self.mlflow = _imported(address)
        self._open(address, experiment)

    @_plainly
    def _open(self, address: str, experiment: str) -> None:
        self.client = self.mlflow.MlflowClient(tracking_uri=address)
        known = self.client.get_experiment_by_name(experiment)
        self.experiment = known.experiment_id if known else self.client.create_experiment(experiment)
        self.present = {run.data.tags[RUN]: run for run in self._runs() if RUN in run.data.tags}

    def _runs(self) -> Iterable[Any]:
        token = None
        while True:
            page = self.client.search_runs([self.experiment], max_results=1000, page_token=token)
            yield from page
            if not (token := page.token):
                return

    @_plainly
    def add(self, run: TrackedRun) -> bool:
        """Write a run that is not there, or replace one that differs; return whether anything was written."""
        old = self.present.get(run.name)
        if old and old.data.tags.get(DIGEST) == run.digest:
            return False
        if old:
            self.client.delete_run(old.info.run_id)
        started = self.client.create_run(self.experiment, run_name=run.name, tags={RUN: run.name, **run.tags})
        self._write(started.info.run_id, run)
        self.client.set_terminated(started.info.run_id, "FAILED" if run.failed else "FINISHED")
        self.client.set_tag(started.info.run_id, DIGEST, run.digest)
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
        import mlflow.entities
    except ImportError:
        package = "mlflow-skinny" if address.startswith("http") else "mlflow"
        install = commands.run(commands.program("python"), "-m", "pip", "install", package)
        raise PubmillError(f"MLflow is not installed here. Install it: {install}") from None
    return mlflow

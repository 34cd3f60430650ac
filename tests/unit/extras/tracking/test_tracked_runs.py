"""Runs in an experiment tracker: what is read of their files, and what reaches MLflow."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from pubmill.errors import PubmillError
from pubmill.extras.tracking.tracked_runs import DIGEST, LONGEST, MlflowRuns, TrackedRun, tracked_run
from tests.unit import toy_tables as made_up

DEV = {"steps": [10, 20], "scores": [0.5, None], "best": 0.5, "best_epoch": 1.0}


def read(folder: Path, losses: tuple[float | None, ...] = (0.9, 0.4), **changes: Any) -> TrackedRun:
    """Write the files of a run, and return what is tracked of it."""
    record = made_up.record("bert", "bc2gm", 1, 0.8, recipe={"batch_size": 16, "head": "linear"}, **changes)
    made_up.write(folder, record)
    path = made_up.paths("bert", "bc2gm")[0]
    training = {"recipe": {"learning_rate": 1e-5}, "dev": DEV, "loss_by_epoch": losses}
    (folder / path.replace(".json", ".training.json")).write_text(json.dumps(training))
    return tracked_run(folder, path)


class Error(Exception):
    """MLflow's exception."""


class Client:
    """The part of MLflow's client that is used; runs live in the class, as on a server."""

    runs: ClassVar[dict[str, Any]] = {}
    broken = False

    def __init__(self, tracking_uri: str) -> None:
        if tracking_uri == "http://nowhere":
            raise Error("nobody answers\nTraceback")

    def get_experiment_by_name(self, name: str) -> Any:
        return SimpleNamespace(experiment_id=name) if self.runs else None

    def create_experiment(self, name: str) -> str:
        return name

    def search_runs(self, experiments: list[str], max_results: int, page_token: str | None) -> Any:
        """One run on each page."""
        place, found = int(page_token or 0), list(self.runs.values())
        page = Page(found[place : place + 1])
        page.token = str(place + 1) if place + 1 < len(found) else None
        return page

    def create_run(self, experiment: str, run_name: str, tags: dict[str, str]) -> Any:
        identifier = f"{run_name}#{len(self.runs)}"
        info = SimpleNamespace(run_id=identifier, status="RUNNING", experiment=experiment)
        data = SimpleNamespace(tags=dict(tags), params=[], metrics=[])
        self.runs[identifier] = SimpleNamespace(info=info, data=data)
        return self.runs[identifier]

    def log_batch(self, run: str, metrics: Any = (), params: Any = ()) -> None:
        assert len(metrics) <= 1000
        if self.broken and metrics:
            raise Error("the connection was lost")
        self.runs[run].data.metrics += metrics
        self.runs[run].data.params += params

    def set_terminated(self, run: str, status: str) -> None:
        self.runs[run].info.status = status

    def set_tag(self, run: str, key: str, value: str) -> None:
        self.runs[run].data.tags[key] = value

    def delete_run(self, run: str) -> None:
        del self.runs[run]


class Page(list[Any]):
    token: str | None


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> type[Client]:
    """An MLflow without runs, in place of the package."""
    entities = SimpleNamespace(
        Metric=lambda key, value, time, step: (key, value, step), Param=lambda key, value: (key, value)
    )
    exceptions = SimpleNamespace(MlflowException=Error)
    module = SimpleNamespace(MlflowClient=Client, entities=entities, exceptions=exceptions)
    monkeypatch.setitem(sys.modules, "mlflow", module)
    monkeypatch.setitem(sys.modules, "mlflow.entities", entities)
    monkeypatch.setattr(Client, "runs", {})
    return Client


def test_a_run_has_its_recipe_scores_and_curves(tmp_path: Path) -> None:
    run = read(tmp_path)
    assert run.name.endswith("/bert/bc2gm/standard/1") and not run.failed
    assert run.parameters["model"] == "bert" and run.parameters["batch_size"] == "16"
    assert run.parameters["head"] == "linear" and run.parameters["seed"] == "1"
    assert run.scores["test/entity_f1"] == 0.8
    assert run.curves["train/loss"] == ((1, 0.9), (2, 0.4))
    assert run.curves["dev/entity_f1"] == ((10, 0.5),), "a step without a score is no point"
    assert set(run.tags) >= {"pubmill.data_sha256"} and all(isinstance(tag, str) for tag in run.tags.values())


def test_a_failed_run_has_no_scores(tmp_path: Path) -> None:
    run = read(tmp_path, (0.9, float("nan")), metrics=None, counts=None, failed="nan")
    assert run.failed and run.scores == {} and run.tags["pubmill.failed"] == "nan"
    assert run.curves["train/loss"] == ((1, 0.9),)


def test_another_training_is_another_digest(tmp_path: Path) -> None:
    assert read(tmp_path).digest == read(tmp_path).digest != read(tmp_path, (0.9, 0.3)).digest


def test_runs_are_written_once_and_replaced_if_they_changed(server: type[Client], tmp_path: Path) -> None:
    run = read(tmp_path)
    other = replace(run, name="other")
    store = MlflowRuns("http://server", "pubmill x demo")
    assert store.add(run) and store.add(other)
    again = MlflowRuns("http://server", "pubmill x demo")
    assert not again.add(run) and not again.add(other) and len(server.runs) == 2
    changed = replace(run, digest="new", scores={"test/entity_f1": 0.5})
    assert again.add(changed) and len(server.runs) == 2
    made = next(found for found in server.runs.values() if found.data.tags[DIGEST] == "new")
    assert ("test/entity_f1", 0.5, 0) in made.data.metrics and made.info.status == "FINISHED"
    assert ("train/loss", 0.4, 2) in made.data.metrics and ("batch_size", "16") in made.data.params


def test_an_interrupted_run_is_written_again(
    server: type[Client], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = read(tmp_path)
    monkeypatch.setattr(server, "broken", True)
    with pytest.raises(PubmillError, match="MLflow: the connection was lost. The same command continues"):
        MlflowRuns("http://server", "x").add(run)
    monkeypatch.setattr(server, "broken", False)
    assert MlflowRuns("http://server", "x").add(run) and len(server.runs) == 1
    assert not MlflowRuns("http://server", "x").add(run)


def test_long_values_are_cut_and_long_curves_sent_in_parts(server: type[Client], tmp_path: Path) -> None:
    curve = tuple((step, 0.5) for step in range(2500))
    long = replace(
        read(tmp_path), parameters={"recipe": "x" * 9999}, curves={"train/loss": curve}, failed=True
    )
    MlflowRuns("http://server", "x").add(long)
    made = next(iter(server.runs.values()))
    assert made.data.params == [("recipe", "x" * LONGEST)] and made.info.status == "FAILED"
    assert len(made.data.metrics) == 2500 + len(long.scores)


def test_points_have_the_time_in_milliseconds(
    server: type[Client], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MlflowRuns("http://server", "x")
    monkeypatch.setattr(store.mlflow.entities, "Metric", lambda key, value, time, step: time)
    monkeypatch.setattr("time.time", lambda: 12.5)
    store.add(read(tmp_path))
    assert set(next(iter(server.runs.values())).data.metrics) == {12_500}


def test_a_server_that_does_not_answer_is_one_line(server: type[Client]) -> None:
    with pytest.raises(PubmillError, match=r"^MLflow: nobody answers\. The same command continues$"):
        MlflowRuns("http://nowhere", "x")


def test_without_mlflow_the_message_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(PubmillError, match="pip install mlflow-skinny$"):
        MlflowRuns("http://server", "x")
    with pytest.raises(PubmillError, match="pip install mlflow$"):
        MlflowRuns("sqlite:///results/mlflow.db", "x")


def test_the_real_client_reads_back_what_was_written(tmp_path: Path) -> None:
    pytest.importorskip("mlflow", reason="MLflow is optional and not among the locked packages")
    pytest.importorskip("sqlalchemy", reason="a database needs mlflow, not only mlflow-skinny")
    address = f"sqlite:///{tmp_path / 'runs.db'}"
    run = read(tmp_path)
    assert MlflowRuns(address, "x").add(run) and not MlflowRuns(address, "x").add(run)
    store = MlflowRuns(address, "x")
    found = store.present[run.name]
    assert found.data.params == run.parameters and found.info.status == "FINISHED"
    assert found.data.metrics["test/entity_f1"] == 0.8
    history = store.client.get_metric_history(found.info.run_id, "train/loss")
    assert [(point.step, point.value) for point in history] == list(run.curves["train/loss"])

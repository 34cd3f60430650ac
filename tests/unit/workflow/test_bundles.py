"""What bundles replace in Snakemake is still there, in the version that is pinned.

tests/workflow/test_slurm.py has their behaviour on a cluster.
"""

import asyncio
import inspect
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import snakemake.api  # noqa: F401 (before its parts, which import each other)
from snakemake.common.tbdstring import TBDString
from snakemake.dag import DAG
from snakemake.jobs import GroupJob
from snakemake.persistence.file import FilePersistence
from snakemake.scheduling.job_scheduler import JobScheduler
from snakemake.settings.types import ExecutionSettings

from pubmill.stages.stage import BUNDLE, IN_TURN
from pubmill.workflow import bundles


def test_snakemake_has_what_bundles_replace_and_call() -> None:
    """When a new Snakemake fails here: read `JobScheduler._handle_error`, `DAG.finish` and `GroupJob`.

    If a failed group no longer deletes the outputs of its finished jobs, drop that part of bundles.py.
    """
    assert list(inspect.signature(bundles._handle_error).parameters) == ["self", "job", "postprocess_job"]
    assert "running" in inspect.getsource(JobScheduler.__init__)
    assert list(inspect.signature(GroupJob).parameters) == ["id", "jobs", "global_resources"]
    assert {"_resources", "_attempt", "_jobs"} <= set(GroupJob.__slots__)
    assert "_running.remove(job)" in inspect.getsource(DAG.finish)
    assert "self._group = groups" in inspect.getsource(DAG.update_groups)
    assert callable(FilePersistence._clear_cache) and callable(FilePersistence._filter_incomplete_keys)
    assert ExecutionSettings().keep_going is False


@pytest.fixture(autouse=True)
def unpatched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Snakemake's classes as they were, afterwards."""
    monkeypatch.setattr(JobScheduler, "_handle_error", JobScheduler._handle_error)
    monkeypatch.setattr(GroupJob, "resources", GroupJob.resources)


def group(name: str, *resources: dict[str, Any]) -> Any:
    jobs = [SimpleNamespace(resources=one) for one in resources]
    return SimpleNamespace(groupid=name, jobs=jobs, _resources=None)


@pytest.mark.parametrize("main", [True, False])
def test_bundles_are_whole_and_their_jobs_run_in_turn_where_a_bundle_runs(main: bool) -> None:
    workflow = SimpleNamespace(
        is_main_process=main,
        group_settings=SimpleNamespace(group_components={"mine": 3}),
        execution_settings=SimpleNamespace(keep_going=False),
        global_resources={"gpu_slots": 4},
    )
    bundles.bundle(workflow)
    components = workflow.group_settings.group_components
    assert components.get(f"{BUNDLE}x", 1) == sys.maxsize
    assert (components.get("mine", 1), components.get("other", 1)) == (3, 1)
    assert workflow.execution_settings.keep_going is not main
    assert workflow.global_resources == ({"gpu_slots": 4} if main else {"gpu_slots": 1, IN_TURN: 1})
    assert GroupJob.resources.fget(group(f"{BUNDLE}x", {"runtime": 2}))["runtime"] == 2


def test_a_bundle_requests_the_most_of_a_job_and_the_time_of_all() -> None:
    made = group(
        f"{BUNDLE}x",
        {"mem_mb": 100, "gpu": 1, "runtime": 10, "slurm": "a"},
        {"mem_mb": 300, "runtime": 20, "disk_mb": TBDString(), "slurm": "a"},
        {"mem_mb": 200, "runtime": 5},
    )
    expected = {"mem_mb": 300, "gpu": 1, "runtime": 35, "slurm": "a"}
    assert dict(bundles._resources_in_turn(made).items()) == expected
    made.jobs = []  # what is found once is kept
    assert dict(bundles._resources_in_turn(made).items()) == expected


def test_another_group_requests_what_snakemake_adds_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundles, "_resources", SimpleNamespace(fget=lambda group: f"all of {group.groupid}"))
    assert bundles._resources_in_turn(group("mine", {"runtime": 1})) == "all of mine"


class Job:
    """A job with one output; `ended`: whether its end is recorded."""

    def __init__(self, name: str, dag: Any, ended: bool = True) -> None:
        self.name, self.dag, self.output, self.ended = name, dag, [f"{name}.txt"], ended

    def __lt__(self, other: "Job") -> bool:
        return self.name < other.name

    async def postprocess(self) -> None:
        self.dag.events.append(f"postprocess {self.name}")


class Group:
    """A group as Snakemake makes it."""

    attempt: int
    scheduler_resources: Any
    _attempt: int
    _scheduler_resources: Any

    def __init__(self, name: str, jobs: frozenset[Job], resources: Any) -> None:
        self.groupid, self.jobs, self.global_resources, self.finalized = name, jobs, resources, False

    def finalize(self) -> None:
        self.finalized = True

    def is_group(self) -> bool:
        return True


class Dag:
    """What bundles use of a graph, of jobs whose names begin with `i` if their end is not recorded."""

    def __init__(self, names: str) -> None:
        jobs = [Job(name, self, not name.startswith("i")) for name in names.split()]
        self.jobs = {job.name: job for job in jobs}
        persistence = SimpleNamespace(
            _clear_cache=lambda: self.events.append("clear"),
            _get_key=lambda file: file,
            _filter_incomplete_keys=lambda keys: [key for key in keys if key.startswith("i")],
        )
        self.workflow = SimpleNamespace(persistence=persistence, async_run=asyncio.run)
        self.events: list[str] = []
        self.bundle = Group(f"{BUNDLE}x", frozenset(jobs), {})
        self.bundle.attempt, self.bundle.scheduler_resources = 2, "of the bundle"
        self._group: dict[Any, Any] = dict.fromkeys(jobs, self.bundle)
        self._running: set[Any] = {"other", self.bundle}

    async def finish(self, job: Job) -> None:
        self.events.append(f"finish {job.name}")


@pytest.mark.parametrize(
    ("names", "files", "finished"),
    [
        ("a b ic", "a ic", "a"),
        ("a b", "", ""),
        ("a b c", "a b c", "b c"),
        ("a", "a", ""),
    ],
)
def test_jobs_of_a_failed_bundle_are_finished_if_their_output_is_there_and_their_end_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: str, files: str, finished: str
) -> None:
    """One runs again in any case, or the bundle would have no job that failed."""
    monkeypatch.chdir(tmp_path)
    for name in files.split():
        Path(f"{name}.txt").touch()
    dag = Dag(names)
    assert sorted(job.name for job in bundles.finished_jobs(dag.bundle)) == finished.split()
    assert dag.events == ["clear"]


def test_the_rest_of_a_failed_bundle_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").touch()
    dag = Dag("a b c")
    handled: list[Any] = []
    monkeypatch.setattr(bundles, "GroupJob", Group)
    monkeypatch.setattr(bundles, "_handle_error", lambda scheduler, *about: handled.append(about))
    scheduler = SimpleNamespace(running={dag.bundle}, finished_jobs=7, workflow=dag.workflow)
    bundles._handle_error_of_rest(scheduler, dag.bundle)
    [(rest,)] = handled
    assert sorted(job.name for job in rest.jobs) == ["b", "c"]
    assert (rest.groupid, rest.finalized, rest._attempt) == (f"{BUNDLE}x", True, 2)
    assert rest._scheduler_resources is None
    assert scheduler.running == {rest} and scheduler.finished_jobs == 8
    assert dag.events == ["clear", "postprocess a", "finish a"]
    assert dag._group == {dag.jobs["b"]: rest, dag.jobs["c"]: rest}
    assert dag._running == {"other", rest, dag.jobs["a"]}


@pytest.mark.parametrize(("is_group", "postprocess"), [(False, True), (True, False), (False, False)])
def test_errors_of_other_jobs_are_snakemakes(
    monkeypatch: pytest.MonkeyPatch, is_group: bool, postprocess: bool
) -> None:
    handled: list[Any] = []
    monkeypatch.setattr(bundles, "_handle_error", lambda *about: handled.append(about))
    job = SimpleNamespace(is_group=lambda: is_group)
    bundles._handle_error_of_rest("scheduler", job, postprocess)
    assert handled == [("scheduler", job, postprocess)]

"""Snakemake records finished jobs, but not those that failed."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake.jobs import Job
from snakemake.persistence import PersistenceBase

from pubmill.workflow import snakemake_hooks as hooks


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Jobs that Snakemake records; its own postprocessing is replaced by a call of `finished`."""
    found: list[object] = []

    async def finished(_: object, job: object) -> None:
        found.append(job)

    async def postprocess(job: Any, *, error: bool = False, stop: bool = False) -> None:
        if stop:
            raise KeyboardInterrupt
        await PersistenceBase.finished(job.persistence, job)

    monkeypatch.setattr(Job, "postprocess", Job.postprocess)  # both are restored after the test
    monkeypatch.setattr(PersistenceBase, "finished", PersistenceBase.finished)
    monkeypatch.setattr(hooks, "_postprocess", postprocess)
    monkeypatch.setattr(hooks, "_finished", finished)
    hooks.forget_failed_jobs()
    return found


def process(job: Any, **options: Any) -> None:
    asyncio.run(Job.postprocess(job, **options))


def test_only_successful_jobs_are_recorded(recorded: list[object]) -> None:
    failed, good = SimpleNamespace(persistence=None), SimpleNamespace(persistence=None)
    process(failed, error=True)
    process(good)
    assert recorded == [good]


def test_a_job_that_succeeds_after_a_failure_is_recorded(recorded: list[object]) -> None:
    job = SimpleNamespace(persistence=None)
    process(job, error=True)
    assert recorded == []
    process(job)
    assert recorded == [job]


def test_the_mark_of_a_failure_is_removed_after_an_exception(recorded: list[object]) -> None:
    job = SimpleNamespace(persistence=None)
    with pytest.raises(KeyboardInterrupt):
        process(job, error=True, stop=True)
    process(job)
    assert recorded == [job]

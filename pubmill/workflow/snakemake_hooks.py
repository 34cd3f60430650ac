"""Steps before Snakemake builds its graph. The settings and targets of a command line reach the workflow only
after its Snakefile is read, and Snakemake has no hook between that and its graph. So its method
`Workflow._build_dag` is replaced: its version is pinned, and tests/unit/workflow/test_snakemake_hooks.py says
what to do when a new one has no such method."""

from collections.abc import Callable
from typing import Any

from snakemake.jobs import Job
from snakemake.persistence import PersistenceBase
from snakemake.settings.enums import RerunTrigger

from pubmill.errors import plainly
from pubmill.workflow.snakemake_speed import speed_up, without_collection


def before_graph(workflow: Any, *steps: Callable[[], None]) -> None:
    """Make Snakemake call some functions before it builds its graph; their errors end the run plainly."""
    speed_up()
    build = workflow._build_dag

    def build_after_steps() -> None:
        for step in steps:
            plainly(step)()
        with without_collection():
            build()

    workflow._build_dag = build_after_steps


def ignore_command_texts(workflow: Any) -> None:
    """Leave the texts of rules out of what reruns their jobs. They are code, and code reruns a job only with
    a new version of its stage, which is a parameter."""
    settings = workflow.dag_settings
    settings.rerun_triggers = frozenset(settings.rerun_triggers) - {RerunTrigger.CODE}


_failed: set[int] = set()
_postprocess, _finished = Job.postprocess, PersistenceBase.finished


async def _postprocess_and_mark(job: Job, *arguments: Any, error: bool = False, **more: Any) -> None:
    """Mark a failed job while Snakemake postprocesses it."""
    if error:
        _failed.add(id(job))
    try:
        await _postprocess(job, *arguments, error=error, **more)
    finally:
        _failed.discard(id(job))


async def _record_if_successful(self: PersistenceBase, job: Job) -> None:
    """Record a job's parameters unless the job is marked as failed."""
    if id(job) not in _failed:
        await _finished(self, job)


def forget_failed_jobs() -> None:
    """Keep Snakemake from recording, in this process, the parameters of jobs that failed. Snakemake 9 records
    them as if the job's output had been made with them (https://github.com/snakemake/snakemake/issues/3808),
    and deletes that output. If files further down the graph exist from before a recipe was changed, the next
    run then finds nothing to do, and they stay stale. Without the new record the old one stays, so that
    Snakemake sees the changed parameters."""
    Job.postprocess, PersistenceBase.finished = _postprocess_and_mark, _record_if_successful

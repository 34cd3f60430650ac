"""Keep Snakemake from recording the parameters of jobs that failed.

Snakemake 9 records a failed job's parameters as if its output had been made with them
(https://github.com/snakemake/snakemake/issues/3808), and deletes that output. If files further down the graph
exist from before a recipe was changed, the next run then finds nothing to do, and they stay stale. Without
the new record the old one stays, so that Snakemake sees the changed parameters.
"""

from typing import Any

from snakemake.jobs import Job
from snakemake.persistence import PersistenceBase

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
    """Keep Snakemake from recording jobs that failed, in this process."""
    Job.postprocess, PersistenceBase.finished = _postprocess_and_mark, _record_if_successful

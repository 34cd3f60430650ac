"""What Snakemake remembers of jobs that failed.

Snakemake 9 writes down a failed job's parameters as if its output had been made with them
(https://github.com/snakemake/snakemake/issues/3808), and deletes that output. If files further down are there
from before a recipe was changed, the next run then finds nothing to be done, and they are stale. Without that
record the old one stays, which says that the parameters have changed.
"""

from typing import Any

from snakemake.jobs import Job
from snakemake.persistence import PersistenceBase

_failed: set[int] = set()
_postprocess, _finished = Job.postprocess, PersistenceBase.finished


async def _postprocess_telling(job: Job, *arguments: Any, error: bool = False, **more: Any) -> None:
    if error:
        _failed.add(id(job))
    try:
        await _postprocess(job, *arguments, error=error, **more)
    finally:
        _failed.discard(id(job))


async def _finished_if_so(self: PersistenceBase, job: Job) -> None:
    if id(job) not in _failed:
        await _finished(self, job)


def forget_failed_jobs() -> None:
    """Keep Snakemake from recording jobs that failed, in this process."""
    Job.postprocess, PersistenceBase.finished = _postprocess_telling, _finished_if_so

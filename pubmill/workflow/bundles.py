"""Bundles: jobs of a cluster that run many trials, runs or files in turn, of which a failed one fails alone.

Snakemake calls a bundle a group. It joins connected jobs only, requests the memory and GPUs of all together,
ends a group at its first failing job, deletes the outputs of all and repeats all. Here unconnected jobs are
joined and run one after another; the others continue, finished ones are kept, and only the rest is submitted
again. The replaced methods are private, and Snakemake's version is pinned
(tests/unit/workflow/test_bundles.py).
"""

import sys
from pathlib import Path
from typing import Any

from snakemake.common.tbdstring import TBDString
from snakemake.iocontainers import ResourceList
from snakemake.jobs import GroupJob
from snakemake.scheduling.job_scheduler import JobScheduler

from pubmill.stages.stage import BUNDLE

_handle_error, _resources = JobScheduler._handle_error, GroupJob.resources


class Components(dict[str, int]):
    """Number of unconnected jobs that a group submits as one: all of a bundle, else as in a profile."""

    def get(self, group: str, default: Any = None) -> Any:
        return sys.maxsize if group.startswith(BUNDLE) else super().get(group, default)


def bundle(workflow: Any) -> None:
    """Submit bundles whole, and let their jobs fail alone: in the run, and in processes that run a bundle.
    Call it before the graph is built, when the workflow has its settings."""
    JobScheduler._handle_error = _handle_error_of_rest
    GroupJob.resources = property(_resources_in_turn)
    workflow.group_settings.group_components = Components(workflow.group_settings.group_components)
    if not workflow.is_main_process:
        workflow.execution_settings.keep_going = True
        workflow.global_resources["gpu_slots"] = 1  # one after another


def _resources_in_turn(group: Any) -> Any:
    """Return the resources of a group; of a bundle, the maximum over its jobs, but the sum of their times."""
    if not group.groupid.startswith(BUNDLE):
        return _resources.fget(group)
    if group._resources is None:
        resources: dict[str, Any] = {}
        for job in group.jobs:
            for name, value in job.resources.items():
                if name == "runtime":
                    resources[name] = resources.get(name, 0) + value
                elif not isinstance(value, TBDString):
                    resources[name] = max(resources.get(name, value), value)
        group._resources = resources
    return ResourceList(fromdict=group._resources)


def _handle_error_of_rest(scheduler: Any, job: Any, postprocess_job: bool = True) -> None:
    """Finish the finished jobs of a failed bundle, and handle the error of the rest alone."""
    if not job.is_group() or not postprocess_job:
        _handle_error(scheduler, job, postprocess_job)
        return
    finished = finished_jobs(job)
    rest = rest_of(job, finished)
    scheduler.running.remove(job)
    scheduler.running.add(rest)
    _handle_error(scheduler, rest)
    rest._scheduler_resources = None  # of the rest; those of the bundle have been freed
    for one in finished:
        scheduler.workflow.async_run(_finish(one))
        scheduler.finished_jobs += 1


def finished_jobs(bundle: Any) -> frozenset[Any]:
    """Return the jobs of a failed bundle whose outputs are there, and whose process has recorded their end.
    If all jobs are finished, the first is left out and runs again: a failed bundle must keep a job."""
    persistence = next(iter(bundle.jobs)).dag.workflow.persistence
    persistence._clear_cache()
    finished = {
        job
        for job in bundle.jobs
        if not persistence._filter_incomplete_keys(persistence._get_key(file) for file in job.output)
        and all(Path(file).exists() for file in job.output)
    }
    return frozenset(finished if finished != bundle.jobs else sorted(finished)[1:])


def rest_of(bundle: Any, finished: frozenset[Any]) -> Any:
    """Return the bundle without its finished jobs, registered in its place."""
    dag = next(iter(bundle.jobs)).dag
    rest = GroupJob(bundle.groupid, bundle.jobs - finished, bundle.global_resources)
    rest.finalize()
    rest._attempt = bundle.attempt
    rest._scheduler_resources = bundle.scheduler_resources
    for job in finished:
        del dag._group[job]
    for job in rest.jobs:
        dag._group[job] = rest
    dag._running.remove(bundle)
    dag._running.update((rest, *finished))
    return rest


async def _finish(job: Any) -> None:
    await job.postprocess()
    await job.dag.finish(job)

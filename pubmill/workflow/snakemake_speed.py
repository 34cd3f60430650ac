"""Work that Snakemake repeats for each of a study's thousands of jobs, done once. All answers stay
Snakemake's own: tests/unit/workflow/test_snakemake_speed.py compares both. Snakemake's version is pinned; a
new one that lacks a replaced method fails that test."""

import gc
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from typing import Any

import snakemake.api  # before its parts, which import each other
from snakemake import common, io, iocontainers, path_modifier, rules
from snakemake.common import FUNC_OVERWRITE_PARAMS_ATTR
from snakemake.iocontainers import InputFiles

Dag: Any = snakemake.dag.DAG
Job: Any = snakemake.jobs.Job
Scheduler: Any = snakemake.scheduling.job_scheduler.JobScheduler
Inputs: Any = InputFiles
File: Any = io._IOFile
Annotated: Any = io.AnnotatedString
PathModifier: Any = path_modifier.PathModifier
modify_by_prefix = PathModifier.modify
NO_FLAGS: Mapping[str, Any] = {}
match_again = Dag.file2jobs
compare_all_outputs = Dag.check_directory_outputs
walk_from_all_grouped = Dag._check_groups


def speed_up() -> None:
    """Replace what Snakemake computes again for each job, or each pair of jobs."""
    vars(common)["get_function_params"] = vars(rules)["get_function_params"] = parameters
    Job.conda_env_spec = property(environment)
    Job.output_mintime = property(oldest_output)
    Inputs.__contains__ = is_input
    Dag.file2jobs = producers
    Dag.check_directory_outputs = check_outputs_in_outputs
    Dag._check_groups = check_groups
    Scheduler._schedule_reevalutation = look_again
    File.exists = is_there
    File.is_storage = property(lambda file: is_flagged(file, "storage_object"))
    io.IOCache.mtime_inventory = take_inventory
    PathModifier.modify = modify
    Job.missing_output = missing_outputs
    for module in (io, rules, snakemake.dag, snakemake.jobs, iocontainers, path_modifier):
        vars(module)["is_flagged"] = is_flagged


@contextmanager
def without_collection() -> Iterator[None]:
    """Disable garbage collection in the block, as a graph only grows, and exempt the graph from it
    afterwards. The graph of an earlier call is collected first."""
    enabled = gc.isenabled()
    if gc.get_freeze_count():
        gc.unfreeze()
        gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()


@lru_cache(4096)
def parameters(function: Callable[..., Any]) -> Mapping[str, Any]:
    """Return the parameters of a function, which Snakemake inspects at each call."""
    if hasattr(function, FUNC_OVERWRITE_PARAMS_ATTR):
        named: Mapping[str, Any] = getattr(function, FUNC_OVERWRITE_PARAMS_ATTR)
        return named
    return inspect.signature(function).parameters


def environment(job: Any) -> Any:
    """Return the environment that a job's rule names. Snakemake computes the job's parameters for it,
    although only an environment that is a function reads them."""
    if job._conda_env_spec is None:
        reads = (job.params, job.input) if callable(job.rule._conda_env) else ()
        job._conda_env_spec = job.rule.expand_conda_env(job.wildcards_dict, *reads)
    return job._conda_env_spec


async def oldest_output(job: Any) -> float | None:
    """Return the time of a job's oldest output, or None; Snakemake starts a task for each file."""
    files = [*job.output, *([job.benchmark] if job.benchmark else [])]
    times = [(await file.mtime()).local_or_storage() for file in files if await file.exists()]
    return min(times, default=None)


def is_flagged(value: Any, flag: str) -> bool:
    """Return whether a file or text has a flag; Snakemake asks first whether it can have flags."""
    kind = type(value)
    if kind is File:
        value = value._file
        kind = type(value)
    if kind is str:
        return False
    flags = value._flags if kind is Annotated else getattr(value, "flags", NO_FLAGS)
    return bool(flags.get(flag))


async def take_inventory(cache: Any, jobs: Iterable[Any], n_workers: int = 0) -> None:
    """Cache the times of all files of jobs that exist, without a queue for each of Snakemake's workers."""
    for job in jobs:
        for file in (*job.input, *job.output, *([job.benchmark] if job.benchmark else ())):
            if not file.is_storage and await file.exists() and file not in cache.mtime:
                cache.mtime[file] = await cache.collect_mtime(file)


def modify(modifier: Any, path: Any, *more: Any, **named: Any) -> Any:
    """Return a path below the prefix of a module; Snakemake looks for one although there is none."""
    prefixes = (modifier.prefix, modifier._prefix_replacements, modifier.inner_modifier)
    if prefixes == (None, None, None) and modifier.workflow.storage_settings.default_storage_provider is None:
        return path
    return modify_by_prefix(modifier, path, *more, **named)


async def is_there(file: Any) -> bool:
    """Return whether a file exists; Snakemake looks into its cache by way of several calls."""
    if is_flagged(file._file, "storage_object"):
        found: bool = await file.exists_in_storage()
        return found
    cache = file.rule.workflow.iocache
    known = dict.get(cache.exists_local, file) if cache.active else None
    return bool(await file.exists_local() if known is None else known)


async def missing_outputs(job: Any, requested: Iterable[Any]) -> AsyncIterator[Any]:
    """Yield requested outputs that do not exist; pipes and services are never there."""
    for name in requested:
        file = job.output_by_path.get(str(name), name)
        if is_flagged(file, "pipe") or is_flagged(file, "service") or not await file.exists():
            yield file


def is_input(files: Any, file: Any) -> bool:
    """Return whether a job reads a file; Snakemake compares it with each of the job's files."""
    size, known = vars(files).get("_known_files", (-1, ()))
    if size != len(files):
        known = frozenset(map(str, files))
        vars(files)["_known_files"] = len(files), known
    return str(file) in known


async def producers(dag: Any, targetfile: Any, wildcards_dict: Any = None) -> Any:
    """Return the jobs that make a file; Snakemake matches its name again for each job that reads it."""
    key = ("producers", str(targetfile))
    if key not in dag.job_cache:
        dag.job_cache[key] = await match_again(dag, targetfile, wildcards_dict=wildcards_dict)
    return dag.job_cache[key]


def check_outputs_in_outputs(dag: Any) -> None:
    """Let Snakemake find an output in another job's folder, if there is one: it sorts all outputs for it."""
    made = {str(file): job for job in dag.jobs for file in job.output}
    if any(made.get(parent, job) is not job for file, job in made.items() for parent in parents(file)):
        compare_all_outputs(dag)


def parents(file: str) -> Iterator[str]:
    """Yield the folders above a file, from its own."""
    while "/" in file:
        file = file.rpartition("/")[0]
        yield file


def check_groups(dag: Any) -> None:
    """Run Snakemake's check only if a group depends on itself, to name the group. Snakemake's check walks the
    whole graph from each job of a group, and again for each job of the group."""
    needed = TopologicalSorter[Any]()
    for job, others in dag._dependencies.items():
        place = dag._group.get(job, job)
        needed.add(place, *({dag._group.get(other, other) for other in others} - {place}))
    try:
        needed.prepare()
    except CycleError:
        walk_from_all_grouped(dag)


def look_again(scheduler: Any, delay: float) -> None:
    """Look for jobs to start after a delay, unless a look is already due. Snakemake itself starts a further
    timer at each look and at the end of each job, so that a run of a thousand jobs would look a thousand
    times a second."""

    def look() -> None:
        scheduler.look_is_due = False
        scheduler._open_jobs.release()

    if not vars(scheduler).get("look_is_due"):
        scheduler.look_is_due = True
        timer = threading.Timer(delay, look)
        timer.daemon = True  # or the program would end only after the delay
        timer.start()

"""Start of a run, before its first job: what it needs, what it costs, and its lock."""

import inspect
import os
import shutil
import sys
from collections.abc import Mapping
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from filelock import FileLock

from pubmill.errors import PubmillError
from pubmill.hardware.compilers import compiler_fault
from pubmill.hardware.slurm import check_earlier_jobs
from pubmill.messages import commands
from pubmill.messages.run_sources import VARIABLE
from pubmill.messages.wording import counted
from pubmill.planning.plan import Job, Plan, hours, make_plan, search_lines
from pubmill.planning.plan_printing import answer, shown
from pubmill.planning.required_files import out_of_reach, required_files
from pubmill.recipes.reading import StoredRecipe
from pubmill.stages import Graph
from pubmill.stages.stage import stages
from pubmill.storage.files import lock, write_json

TRAINING = ("scripts/finetune.py", "scripts/pretrain.py")
"""Programs that may use a GPU for long."""
RECORDS_FAILED_JOBS = ("9.9", "9.28")
"""Versions of Snakemake, from the first to before the second, that record failed jobs as made."""


def begin(
    workflow: Any, graph: Graph, sources: Mapping[str, Mapping[str, str]], own_environments: bool
) -> FileLock:
    """Lock the results for a run and return the lock; raise a `PubmillError` if the run cannot start. The
    error names all files that cannot be reached at once, instead of one job failing after another. `sources`:
    digests of the sources when the graph was built, which jobs compare (`run_sources`)."""
    held = lock_results(graph.results)
    graph.check_files()
    to_do = [job for job in workflow.dag.needrun_jobs() if job.rule.name in stages()]
    jobs = [Job(job.rule.name, dict(job.wildcards_dict), True) for job in to_do]
    if missing := out_of_reach(required_files(jobs, graph), graph.study.mirror):
        study = ["config.yaml", *map(str, workflow.config_settings.configfiles)][-1]
        fetch = commands.pubmill("mirror", study, "--fetch", "FOLDER")
        advice = f"Fetch them on a machine with a network connection ({fetch}), "
        advice += "and set `mirror:` and HF_HUB_CACHE"
        raise PubmillError("\n".join(["files cannot be reached:", *missing, advice]))
    trains = any(stages()[job.rule].program in TRAINING for job in jobs)
    if trains and not own_environments and find_spec("torch") is None:
        install = commands.run(commands.program("python"), "-m", "pip", "install", "DIST.whl[train]")
        raise PubmillError(f"the run trains models by torch, which is not installed; install it: {install}")
    if not workflow.local_exec:
        check_earlier_jobs(Path.cwd())
    for recipe in (value for job in to_do for value in job.params if isinstance(value, StoredRecipe)):
        recipe.write()
    file = Path(graph.results).resolve() / ".run-sources.json"
    write_json(file, sources)
    os.environ[VARIABLE] = str(file)  # Slurm and the other clusters' commands export the environment to jobs
    forget_failed_jobs(workflow.persistence)
    plan = make_plan(jobs, graph, graph.gpus)
    lines = [*graph.left_out(), *search_lines(jobs, graph), *answer(plan, graph.gpus)]
    if workflow.local_exec and trains:
        lines += machine_lines(plan, graph, own_environments)
    print("\n".join(lines), file=sys.stderr, flush=True)
    return held


def lock_results(results: str) -> FileLock:
    """Lock the results of a scale for a run; raise a `PubmillError` if another run holds them."""
    return lock(Path(results) / ".lock")


def machine_lines(plan: Plan, graph: Graph, own_environments: bool) -> list[str]:
    """Return what this machine lacks to train: a GPU for models of full size, or a GPU's compiler."""
    if shutil.which("nvidia-smi"):
        fault = None if own_environments else compiler_fault()
        return [f"pubmill: {fault}"] if fault else []
    jobs = sum(one.jobs for one in plan.trainings)
    gpu, time = min(hours(plan.trainings, graph.gpus).items(), key=lambda one: one[1], default=("", 0.0))
    if time < 1:
        return []
    return [
        f"pubmill: warning: this machine has no NVIDIA GPU for {counted(jobs, 'training')} of {shown(time)} "
        f"hours on one {gpu}; on processors they take about a hundred times as long. Interrupt with Ctrl-C "
        f"and start the run on a machine with a GPU, or with --profile {commands.profile('slurm')}"
    ]


def forget_failed_jobs(persistence: Any) -> None:
    """Keep Snakemake from recording the parameters of jobs that failed: it records them as if the job's
    output had been made with them (https://github.com/snakemake/snakemake/issues/3808), and deletes that
    output. If files further down the graph exist from before a recipe was changed, the next run would find
    nothing to do, and they would stay stale. Versions that are not known to do so are left as they are."""
    first, end = (tuple(map(int, one.split("."))) for one in RECORDS_FAILED_JOBS)
    finished = persistence.finished
    here = tuple(map(int, version("snakemake").split(".")[:2]))
    if not first <= here < end or not inspect.iscoroutinefunction(finished):
        return

    async def finished_if_made(job: Any) -> None:
        if all(Path(file).exists() for file in job.output):  # a program renames its output at its end
            await finished(job)

    persistence.finished = finished_if_made

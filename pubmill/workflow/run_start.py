"""Checks at the start of a run, before its first job."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from filelock import FileLock

from pubmill.errors import PubmillError
from pubmill.hardware.compilers import compiler_fault
from pubmill.messages import commands
from pubmill.messages.run_sources import VARIABLE
from pubmill.planning.required_files import out_of_reach, required_files
from pubmill.stages import Graph
from pubmill.stages.all_stages import stages
from pubmill.stages.params_text import LongRecipe
from pubmill.storage.files import lock, write_json, writing
from pubmill.workflow.jobs import jobs_in

SHOWN = 10
"""Jobs of an earlier run that a message names."""
FINETUNING, PRETRAINING = "scripts/finetune.py", "scripts/pretrain.py"
"""Programs that may use a GPU for long."""


def begin(workflow: Any, graph: Graph, sources: Mapping[str, Mapping[str, str]]) -> FileLock:
    """Lock the results for a run and return the lock; raise a `PubmillError` if the run cannot start. The
    error names all files that cannot be reached at once, instead of one job failing after another. `sources`:
    digests of the sources when the graph was built, which jobs compare (`run_sources`)."""
    held = lock_results(graph.results)
    wanted = required_files((job for job in jobs_in(workflow.dag) if job.to_do), graph)
    if missing := out_of_reach(wanted, graph.study.mirror):
        raise PubmillError("\n".join(["files cannot be reached:", *missing, _fetch_advice(workflow)]))
    _write_long_recipes(workflow)
    file = Path(graph.results).resolve() / ".run-sources.json"
    write_json(file, sources)
    os.environ[VARIABLE] = str(file)  # Slurm and the other clusters' commands export the environment to jobs
    run = getattr(workflow.scheduler._executor, "run_uuid", None)  # the name of all jobs of this run in Slurm
    if run:
        begin_run(Path(graph.results), run)
    return held


def _fetch_advice(workflow: Any) -> str:
    """Return advice on how to fetch the files that a study needs."""
    study = ["config.yaml", *map(str, workflow.config_settings.configfiles)][-1]
    fetch = commands.pubmill("mirror", study, "--fetch", "FOLDER")
    return f"Fetch them on a machine with a network connection ({fetch}), and set `mirror:` and HF_HUB_CACHE"


def lock_results(results: str) -> FileLock:
    """Lock the results of a scale for a run; raise a `PubmillError` if another run holds them."""
    return lock(Path(results) / ".lock")


def _write_long_recipes(workflow: Any) -> None:
    """Write the recipes that jobs to do read from files."""
    for job in filter(workflow.dag.needrun, workflow.dag.jobs):
        for value in job.params:
            if isinstance(value, LongRecipe):
                value.write()


def require_torch(workflow: Any) -> None:
    """Raise a `PubmillError` if the run is to train and torch is not installed, which nothing else needs."""
    if _jobs_to_do(workflow, FINETUNING, PRETRAINING) and find_spec("torch") is None:
        install = commands.run(commands.program("python"), "-m", "pip", "install", "DIST.whl[train]")
        raise PubmillError(f"the run trains models by torch, which is not installed; install it: {install}")


def report_compiler(workflow: Any) -> None:
    """Print what this machine lacks to compile kernels, if it has a GPU and is to train."""
    trains = _jobs_to_do(workflow, FINETUNING, PRETRAINING)
    if workflow.local_exec and trains and shutil.which("nvidia-smi") and (fault := compiler_fault()):
        print(f"pubmill: {fault}", file=sys.stderr)


def _jobs_to_do(workflow: Any, *programs: str) -> int:
    """Return the number of jobs that a run is to do by one of the programs."""
    rules = {rule for rule, stage in stages().items() if stage.program in programs}
    return sum(job.to_do and job.rule in rules for job in jobs_in(workflow.dag))


def begin_run(results: Path, run: str) -> None:
    """Record the name of a run's Slurm jobs, unless Slurm still has jobs of the previous run. A killed
    Snakemake cannot cancel its jobs. They continue, and their output counts as finished; a second Snakemake
    would submit the same work again. Raise a `PubmillError` that names such jobs."""
    noted = results / ".slurm-run"
    earlier = noted.read_text(encoding="utf-8").strip() if noted.is_file() else ""
    if left := _jobs_named(earlier) if earlier else []:
        shown = ", ".join(left[:SHOWN]) + (", ..." if len(left) > SHOWN else "")
        raise PubmillError(
            f"Slurm still has {len(left)} jobs of an earlier run ({shown}). Either wait for them (their "
            f"results will be used) or cancel them with `scancel --name {earlier}`; then run the same "
            "command again."
        )
    with writing(noted) as temporary:
        temporary.write_text(f"{run}\n", encoding="utf-8")


def _jobs_named(name: str) -> list[str]:
    """Return the ids of the pending and running jobs with this name."""
    question = ("squeue", "--noheader", "--me", "--name", name, "--format", "%A")
    answer = subprocess.run(question, capture_output=True, text=True, check=False)
    if answer.returncode:
        raise PubmillError(f"squeue cannot list the jobs of an earlier run: {answer.stderr.strip()}")
    return answer.stdout.split()

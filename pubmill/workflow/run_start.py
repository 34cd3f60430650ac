"""What is looked at when a run begins, before its first job."""

from pathlib import Path
from typing import Any

from filelock import FileLock

from pubmill.errors import PubmillError
from pubmill.graph import Targets
from pubmill.messages import commands
from pubmill.planning.required_files import needed, out_of_reach
from pubmill.storage.files import lock
from pubmill.workflow.jobs import jobs_in
from pubmill.workflow.orphaned_slurm_jobs import begin_run


def begin(workflow: Any, targets: Targets) -> FileLock:
    """The lock that the run holds on its results, once nothing hinders it; a `PubmillError` says what does.

    All files that are out of reach are named at once, not job by job.
    """
    held = lock(Path(targets.results) / ".lock")
    wanted = needed((job for job in jobs_in(workflow.dag) if job.to_do), targets)
    if missing := out_of_reach(wanted, targets.study.mirror):
        raise PubmillError("\n".join(["files are out of reach:", *missing, _advice(workflow)]))
    run = getattr(workflow.scheduler._executor, "run_uuid", None)  # the name of all its jobs in Slurm
    if run:
        begin_run(Path(targets.results), run)
    return held


def _advice(workflow: Any) -> str:
    """How to fetch what a study needs."""
    study = ["config.yaml", *map(str, workflow.config_settings.configfiles)][-1]
    fetch = commands.script("mirror", study, "--fetch", "FOLDER")
    return f"Fetch them on a machine with a network connection ({fetch}), and set `mirror:` and HF_HUB_CACHE"

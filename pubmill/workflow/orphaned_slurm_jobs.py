"""Slurm jobs that outlive the Snakemake process that submitted them."""

import subprocess
from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.storage.files import writing

SHOWN = 10


def begin_run(results: Path, run: str) -> None:
    """Record the name of a run's Slurm jobs, unless Slurm still has jobs of the previous run.

    A killed Snakemake cannot cancel its jobs. They continue, and their output counts as finished; a second
    Snakemake would submit the same work again. Raise a `PubmillError` that names such jobs.
    """
    noted = results / ".slurm-run"
    earlier = noted.read_text(encoding="utf-8").strip() if noted.is_file() else ""
    left = _jobs_named(earlier) if earlier else []
    if left:
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

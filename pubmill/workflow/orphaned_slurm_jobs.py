"""Jobs of Slurm that outlive the Snakemake which submitted them."""

import subprocess
from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.storage.files import writing

SHOWN = 10


def begin_run(results: Path, run: str) -> None:
    """Note the name that a run's jobs of Slurm have, unless jobs of the run before it are still there.

    A Snakemake that is killed can't cancel its jobs. They go on, what they make counts as made; a second
    Snakemake would submit the same work beside them. A `PubmillError` names them.
    """
    noted = results / ".slurm-run"
    earlier = noted.read_text(encoding="utf-8").strip() if noted.is_file() else ""
    left = _jobs_named(earlier) if earlier else []
    if left:
        shown = ", ".join(left[:SHOWN]) + (", ..." if len(left) > SHOWN else "")
        raise PubmillError(
            f"{len(left)} jobs of an earlier run are still with Slurm ({shown}). Either wait for them (what "
            f"they finish counts) or end them with `scancel --name {earlier}`; then run the same command "
            "again."
        )
    with writing(noted) as temporary:
        temporary.write_text(f"{run}\n", encoding="utf-8")


def _jobs_named(name: str) -> list[str]:
    """Numbers of the jobs with this name that wait or run."""
    question = ("squeue", "--noheader", "--me", "--name", name, "--format", "%A")
    found = subprocess.run(question, capture_output=True, text=True, check=False)
    if found.returncode:
        raise PubmillError(f"squeue doesn't say which jobs of a run are left: {found.stderr.strip()}")
    return found.stdout.split()

"""Jobs of Slurm: those that an earlier run left, and how a job of several nodes starts its processes."""

import shutil
import subprocess
from pathlib import Path

from pubmill.errors import PubmillError

OURS = "rule_"
"""Beginning of the comments that Snakemake's executor gives to jobs of Slurm."""
SHOWN = 10
"""Jobs of an earlier run that a message names."""
FIRST_NODE = (
    '$(scontrol show node "$(squeue -h -j $SLURM_JOB_ID -o %B)" | grep -o "NodeAddr=[^ ]*" | cut -d= -f2)'
)
"""Shell text: the address of a Slurm job's first node. Snakemake leaves only the job's number in the
environment."""


def launcher(nodes: int, processes: int, cores: int) -> str:
    """Return the beginning of a shell command, before a program and its arguments. `processes`: on each node;
    `cores`: of each node's part of a Slurm job, which a job step has only if it requests them again."""
    if nodes == processes == 1:
        return "python"
    torchrun = f"python -m torch.distributed.run --nproc-per-node={processes}"
    if nodes == 1:
        return f"{torchrun} --standalone"
    return (
        f"srun --nodes={nodes} --ntasks={nodes} --ntasks-per-node=1 --cpus-per-task={cores} "
        f"--kill-on-bad-exit=1 {torchrun} --nnodes={nodes} --rdzv-backend=c10d --rdzv-id=$SLURM_JOB_ID "
        f"--rdzv-endpoint={FIRST_NODE}:$((20000 + SLURM_JOB_ID % 20000))"
    )


def check_earlier_jobs(folder: Path) -> None:
    """Raise a `PubmillError` that names jobs that Slurm still has of an earlier run in this folder. A killed
    Snakemake cannot cancel its jobs. They continue, and their output counts as finished; a second Snakemake
    would submit the same work again."""
    if not shutil.which("squeue"):  # another system's cluster
        return
    question = ("squeue", "--noheader", "--me", "--format", "%A %k %Z")
    answer = subprocess.run(question, capture_output=True, text=True, check=False)
    if answer.returncode:
        raise PubmillError(f"squeue cannot list the jobs of an earlier run: {answer.stderr.strip()}")
    rows = [line.split(maxsplit=2) for line in answer.stdout.splitlines() if line.strip()]
    left = [job for job, comment, place in rows if comment.startswith(OURS) and place == str(folder)]
    if left:
        named = ", ".join(left[:SHOWN]) + (", ..." if len(left) > SHOWN else "")
        raise PubmillError(
            f"Slurm still has {len(left)} jobs of an earlier run ({named}). Either wait for them (their "
            f"results will be used) or cancel them with `scancel {' '.join(left)}`; then run the same "
            "command again."
        )

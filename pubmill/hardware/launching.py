"""Command that starts a program as several processes, on one machine or on all nodes of a Slurm job."""

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pubmill.errors import PubmillError

TORCHRUN = (sys.executable, "-m", "torch.distributed.run")
TORCHRUN_ENVIRONMENT = {"TORCH_ELASTIC_SHUTDOWN_TIMEOUT": "180"}
"""Seconds that torchrun gives its processes to save and end after a request to stop, as in profiles/slurm
before the time limit (`--signal`). Versions of PyTorch that do not know the variable give them 30."""


class SlurmJob(NamedTuple):
    """A Slurm job: the `address` of its first node, and the `cores` of each task."""

    number: int
    address: str
    cores: str


def command(program: Sequence[str], nodes: int, processes: int, job: SlurmJob | None = None) -> list[str]:
    """Return the command that starts `program` (a path and its arguments) as several processes on each node.
    torchrun starts the processes of a node; srun starts one torchrun on each node of `job`. A job step has
    all GPUs of the job, but since Slurm 22.05 only the cores that it requests again."""
    if nodes > 1 and job is None:
        raise PubmillError(
            f"{nodes} nodes are asked for, but this is not a job of Slurm. Set `nodes` for the rule in "
            f"profiles/slurm only; on one machine `processes` says how many there are to be."
        )
    if job is None or nodes == 1:
        several = (*TORCHRUN, "--standalone", f"--nproc-per-node={processes}")
        return [*(several if processes > 1 else (sys.executable,)), *program]
    port = 20_000 + job.number % 20_000  # jobs on the same node have nearby numbers
    return [
        *("srun", f"--nodes={nodes}", f"--ntasks={nodes}", "--ntasks-per-node=1"),
        *(f"--cpus-per-task={job.cores}", "--kill-on-bad-exit=1"),
        *(*TORCHRUN, f"--nnodes={nodes}", f"--nproc-per-node={processes}", "--rdzv-backend=c10d"),
        *(f"--rdzv-id={job.number}", f"--rdzv-endpoint={job.address}:{port}", *program),
    ]


def slurm_job(environment: Mapping[str, str]) -> SlurmJob | None:
    """Return this process's Slurm job as Slurm's controller describes it; None outside of a job. The
    controller is asked because Snakemake removes all but the job's number from the environment."""
    number = environment.get("SLURM_JOB_ID")
    if number is None:
        return None
    job = _ask_scontrol("show", "job", "--oneliner", number)
    names = _ask_scontrol("show", "hostnames", _scontrol_field(job, "NodeList")).split()
    node = _ask_scontrol("show", "node", "--oneliner", names[0])
    return SlurmJob(int(number), _scontrol_field(node, "NodeAddr"), _scontrol_field(job, "CPUs/Task"))


def _ask_scontrol(*question: str) -> str:
    answer = subprocess.run(["scontrol", *question], capture_output=True, text=True, check=False)
    if answer.returncode:
        raise PubmillError(f"scontrol {' '.join(question)} failed: {answer.stderr.strip()}")
    return answer.stdout


def _scontrol_field(text: str, name: str) -> str:
    """Return the value of `name=value` in scontrol's output."""
    match = re.search(rf"(?:^|\s){re.escape(name)}=(\S+)", text)
    if match is None:
        raise PubmillError(f"scontrol names no {name} in: {text.strip()}")
    return match[1]

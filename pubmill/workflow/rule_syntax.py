"""Parts of rules: patterns of wildcards, parameters that rerun no job, the beginnings of shell commands."""

import re
import shlex
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pubmill.storage.name_patterns import FACT_TABLE


def any_of(names: Iterable[str]) -> str:
    """A pattern that matches each of the names and nothing else; nothing at all if there are none."""
    return "|".join(map(re.escape, names)) or "(?!)"


def wildcard_patterns(protocols: Iterable[str]) -> dict[str, str]:
    """Return the patterns of the wildcards that mean the same in all rules."""
    names = "corpus source block vocab recipe model dataset setting trial paper".split()
    return {
        **dict.fromkeys(names, "[^/]+"),
        "protocol": any_of(protocols),
        "table": FACT_TABLE,
        "seed": "[0-9]+",
    }


def untracked(find: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    """A parameter that reruns no job when it changes, such as the place of the user's own files. Snakemake
    compares no parameters that are derived from outputs. What a job depends on is the content of these files,
    which is a parameter of its own."""
    return lambda wildcards, output: find(wildcards)


def shell_prefix(root: Path, own_environments: bool) -> str:
    """What comes before every shell command; `root` is the checkout. Programs run with the Python of this
    Snakemake, unless each has an environment of its own (--sdm)."""
    path = f"PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH"
    return (
        f"set -euo pipefail; export PYTHONUNBUFFERED=1 PYTHONSAFEPATH=1 PYTHONPATH={shlex.quote(str(root))} "
        f"{'' if own_environments else path}; "
    )


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

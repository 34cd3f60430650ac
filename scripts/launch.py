"""Start a program as several cooperating processes, on this machine or on the nodes of a Slurm job.

    .venv/bin/python scripts/launch.py --processes 4 scripts/pretrain.py ...
    .venv/bin/python scripts/launch.py --nodes 2 --processes 4 scripts/pretrain.py ...

The first command is for one machine with four GPUs, the second for a Slurm job with two nodes.

Inputs:  the program and its arguments; in a Slurm job, the node names that scontrol lists
Outputs: those of the program, which replaces this process
"""

import os
import sys
from pathlib import Path
from typing import Annotated

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill.errors import run
from pubmill.hardware.launching import TORCHRUN_ENVIRONMENT, command, slurm_job
from pubmill.recipes.programs import program


def main(
    *program_and_arguments: str,
    nodes: Annotated[int, "number of nodes of the Slurm job"] = 1,
    processes: Annotated[int, "number of processes on each node"] = 1,
) -> None:
    """Replace this process by the launcher of the program."""
    job = slurm_job(os.environ) if nodes > 1 else None
    started = command(list(program_and_arguments), nodes, processes, job)
    os.execvpe(started[0], started, TORCHRUN_ENVIRONMENT | os.environ)


if __name__ == "__main__":
    run(program(main))

"""Start a program as several cooperating processes, on this machine or on the nodes of a Slurm job.

    .venv/bin/python scripts/launch.py --processes 4 scripts/pretrain.py ...
    .venv/bin/python scripts/launch.py --nodes 2 --processes 4 scripts/pretrain.py ...

The first command is for one machine with four GPUs, the second for a Slurm job with two nodes.

Inputs:  the program and its arguments; in a Slurm job, the node names that scontrol lists
Outputs: those of the program, which replaces this process
"""

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pubmill.errors import run
from pubmill.hardware.launching import TORCHRUN_ENVIRONMENT, command, slurm_job


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("--processes", type=int, default=1, help="number of processes on each node")
    parser.add_argument("program", nargs=argparse.REMAINDER, help="a Python program and its arguments")
    arguments = parser.parse_args()
    job = slurm_job(os.environ) if arguments.nodes > 1 else None
    started = command(arguments.program, arguments.nodes, arguments.processes, job)
    os.execvpe(started[0], started, TORCHRUN_ENVIRONMENT | os.environ)


if __name__ == "__main__":
    run(main)

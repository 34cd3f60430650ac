"""Readers of the same files turn by turn, each time in a fresh process: what medline.py and pmc.py share."""

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

Reader = Callable[[Path], int]
"""Reads all below a path and gives the number of what it found there."""


class Reading(NamedTuple):
    """Seconds of processor time, highest resident size in kB, and how many were found."""

    seconds: float
    memory: int
    found: int

    @property
    def rate(self) -> float:
        return self.found / self.seconds


def take_turns(program: str, readers: Iterable[str], path: Path, turns: int) -> dict[str, Reading]:
    """Of each reader the median of the seconds and the highest memory; in a turn one reads after the other.

    `program` is the benchmark, which with `--read READER PATH` calls `read_once`.
    """
    names = list(readers)
    runs = [{name: _measure(program, name, path) for name in names} for _ in range(turns)]
    return {
        name: Reading(
            seconds=statistics.median(run[name].seconds for run in runs),
            memory=max(run[name].memory for run in runs),
            found=runs[0][name].found,
        )
        for name in names
    }


def _measure(program: str, reader: str, path: Path) -> Reading:
    command = [sys.executable, program, "--read", reader, str(path)]
    job = subprocess.run(command, check=True, capture_output=True, text=True)
    seconds, memory, found = job.stdout.split()
    return Reading(float(seconds), int(memory), int(found))


def read_once(reader: Reader, path: Path, small: Path) -> None:
    """Read `path` and print the figures; `small` first: imports and first use are not what is measured."""
    reader(small)
    start = time.process_time()
    found = reader(path)
    used = time.process_time() - start
    print(used, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, found)

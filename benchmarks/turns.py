"""Run readers of the same files in alternating rounds, each in a new process (for medline.py, pmc.py)."""

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

Reader = Callable[[Path], int]
"""Function that reads everything below a path and returns the number of items found."""


class Reading(NamedTuple):
    """Processor seconds, peak resident size in kB, and number of items found."""

    seconds: float
    memory: int
    found: int

    @property
    def rate(self) -> float:
        return self.found / self.seconds


def take_turns(program: str, readers: Iterable[str], path: Path, turns: int) -> dict[str, Reading]:
    """Return each reader's median seconds and highest memory; in a round, the readers run one after another.

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
    """Read `path` and print the figures; read `small` first, so that imports and first use do not count."""
    reader(small)
    start = time.process_time()
    found = reader(path)
    used = time.process_time() - start
    print(used, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, found)

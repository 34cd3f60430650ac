"""Clock and power of a GPU while a program runs, from nvidia-smi."""

import shutil
import statistics
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

QUERY = (
    "nvidia-smi",
    "--query-gpu=clocks.sm,power.draw",
    "--format=csv,noheader,nounits",
    "--id=0",
    "-lms",
    "250",
)


class Clocks:
    """Medians of what was seen: `clock` in MHz, `power` in W; None without nvidia-smi."""

    clock: float | None = None
    power: float | None = None

    def read(self, lines: str) -> None:
        """Take in the lines of nvidia-smi; those without numbers (`[N/A]`) do not count."""
        columns = zip(
            *(line.split(", ") for line in lines.splitlines() if line.count(", ") == 1), strict=True
        )
        found = [[float(value) for value in column if value.replace(".", "").isdigit()] for column in columns]
        self.clock, self.power = (
            statistics.median(values) if values else None for values in found or ([], [])
        )


@contextmanager
def watched_clocks() -> Iterator[Clocks]:
    """Watch the first GPU during the block; the result is complete at its end."""
    clocks = Clocks()
    if not shutil.which(QUERY[0]):
        yield clocks
        return
    watch = subprocess.Popen(QUERY, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield clocks
    finally:
        watch.terminate()
        clocks.read(watch.communicate()[0])

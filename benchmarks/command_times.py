"""Processor seconds of commands that answer without running anything, here and in an older checkout.

    .venv/bin/python benchmarks/command_times.py --before /path/to/older/checkout

Both checkouts must be without results. User seconds of the processor are compared, because other programs on
the machine change them little.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

COMMANDS = (
    "run gu2020 -n",
    "plan gu2020",
    "mirror gu2020",
    "doctor gu2020 --offline",
    "run gu2020 table06 -n",
)
KEPT = ".snakemake/pubmill-jobs"


def seconds(checkout: Path, command: str) -> float:
    """Return the user seconds of a command of pubmill."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(
        [sys.executable, "-m", "pubmill.cli", *command.split()],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,  # the doctor's status says whether all is there
    )
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main() -> None:
    """Print each command's seconds: before, now, now without a change since, and what is left of before."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, required=True, help="older checkout")
    older, here = parser.parse_args().before.absolute(), Path(__file__).parents[1]
    print("| command | before | now | unchanged since | now / before | unchanged / before |")
    print("|---|---|---|---|---|---|")
    for command in COMMANDS:
        for place in (older, here):
            shutil.rmtree(place / KEPT, ignore_errors=True)
        before, now, unchanged = (seconds(place, command) for place in (older, here, here))
        shares = f"{now / before:.2f} | {unchanged / before:.2f}"
        print(f"| `{command}` | {before:.1f} | {now:.1f} | {unchanged:.1f} | {shares} |", flush=True)


if __name__ == "__main__":
    main()

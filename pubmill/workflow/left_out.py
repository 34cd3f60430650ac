"""Report what a study requests but must leave out, once, where Snakemake lists the jobs."""

import atexit
import sys
from collections.abc import Callable
from typing import Any


def announce_left_out(workflow: Any, lines: list[str]) -> Callable[[], None]:
    """Make the main process print the lines when it ends; return a function that prints them earlier.

    Snakemake calls no hooks in a dry run or in a run with nothing to do. The scheduler exists only after the
    graph is built: if an error stops the run before that, the error stays the last line.
    """

    def print_lines() -> None:
        """Print each line once: below the jobs of a dry run, else among Snakemake's own messages."""
        while lines:
            print(lines.pop(0), file=sys.stdout if workflow.output_settings.dryrun else sys.stderr)

    if workflow.is_main_process:
        atexit.register(lambda: print_lines() if workflow.scheduler else None)
    return print_lines

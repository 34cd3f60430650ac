"""Seconds that finished jobs took, from the benchmark files of their rules."""

import csv
from collections.abc import Callable
from functools import cache
from pathlib import Path
from statistics import fmean

from pubmill.errors import PubmillError
from pubmill.stages.stage import Seconds
from pubmill.storage.result_paths import Paths


def measured_seconds(paths: Paths) -> Callable[[str], Seconds | None]:
    """Return a function from a rule to the mean seconds of its finished jobs in these results; None without
    any."""
    folder = Path(paths.at("benchmarks"))

    @cache
    def of_rule(rule: str) -> Seconds | None:
        seconds = [_read_seconds(path) for path in sorted((folder / rule).rglob("*.tsv"))]
        if not seconds:
            return None
        return Seconds(fmean(seconds), f"measured: mean of {len(seconds):,} jobs in {folder / rule}")

    return of_rule


def _read_seconds(path: Path) -> float:
    """Return the seconds of a file that Snakemake wrote."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    try:
        return fmean(float(row["s"]) for row in rows)
    except (KeyError, TypeError, ValueError):
        raise PubmillError(
            f"{path}: expected Snakemake's table of a benchmark, with seconds in column `s`; remove the file"
        ) from None

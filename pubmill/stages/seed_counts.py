"""How many seeds of each run a study makes, where a protocol decides that as runs finish."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pubmill.errors import PubmillError
from pubmill.recipes.finetuning import FIRST_SEEDS
from pubmill.specs.study import Study
from pubmill.storage.files import read_json, write_json
from pubmill.storage.result_paths import Paths, RunKey


class SeedCounts:
    """Numbers of seeds by run. A run without one gets the first seeds, which decide nothing yet.

    They are decided and kept in a file when Snakemake starts, so that all its jobs see the same graph.
    `every`: count all seeds that protocols have, to plan which of them to make.
    """

    def __init__(self, study: Study, paths: Paths, every: bool) -> None:
        self._file = Path(paths.seeds(study.study))
        self._every = every
        self._counts: dict[str, int] | None = None

    def take(self, seeds: tuple[int, ...], run: RunKey) -> tuple[int, ...]:
        """Return those of a run's seeds that are made now."""
        return seeds if self._every else seeds[: self._known().get("/".join(run), FIRST_SEEDS)]

    def decide(self, counts: Mapping[RunKey, int]) -> None:
        """Replace the numbers of seeds."""
        self._counts = {"/".join(run): count for run, count in sorted(counts.items())}

    def keep(self) -> None:
        """Write the decided numbers for the jobs of this run of Snakemake; nothing if none were decided."""
        if self._counts is not None:
            write_json(self._file, self._counts)

    def _known(self) -> dict[str, int]:
        if self._counts is None:
            self._counts = _checked(read_json(self._file), self._file) if self._file.exists() else {}
        return self._counts


def _checked(counts: Any, file: Path) -> dict[str, int]:
    """Return the content of the file; a `PubmillError` if it can't be what `keep` wrote."""
    if isinstance(counts, dict) and all(type(count) is int and count >= 1 for count in counts.values()):
        return counts
    raise PubmillError(
        f"{file}: expected the number of seeds of each run, at least 1; remove the file, and "
        "start Snakemake again, which decides the numbers by the finished runs"
    )

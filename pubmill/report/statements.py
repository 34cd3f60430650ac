"""Statements of specs on the methods of papers, as a report shows them."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import get_args

from pubmill.specs.fidelity import FidelityRow, rows_of
from pubmill.specs.spec_types import Standing


@dataclass(frozen=True)
class Statements:
    """The statements on one paper. `counts`: standing -> number; `by_spec`: spec (`protocols/blurb`) ->
    statements."""

    counts: dict[Standing, int]
    by_spec: dict[str, list[FidelityRow]]


def statements_by_paper(files: Iterable[Path]) -> dict[str, Statements]:
    """Return the statements in some specs, by paper."""
    rows = rows_of(files)
    return {paper: _of_paper(list(some)) for paper, some in groupby(rows, key=lambda row: row.paper)}


def _of_paper(rows: list[FidelityRow]) -> Statements:
    counts = Counter(row.statement.standing for row in rows)
    by_spec = groupby(rows, key=lambda row: row.spec)
    return Statements(
        counts={standing: counts[standing] for standing in get_args(Standing)},
        by_spec={spec: list(some) for spec, some in by_spec},
    )

"""CV* of a table: how close our values and the published ones are, beside the verdicts on them.

CV* (QRA++) of one cell is that of the two values {published, ours}, so it grows with their difference alone;
unlike a verdict, it takes neither a margin nor the spread over seeds into account.
"""

import math
from collections import Counter
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import NamedTuple

from pubmill.messages.wording import aligned
from pubmill.tables.cells import Cell, Table


def unbiased_cv(scores: Sequence[float]) -> float:
    """Return CV* of two or more measurements of the same score, in per cent.

    The sample standard deviation divided by c4(n), which makes it unbiased for normal values, as a share of
    the mean, times 1 + 1/(4n) (Belz, Popović and Mille 2022, section 3; QRA++, Belz 2025). The scale of the
    scores must begin at 0, and their mean must be above it.
    """
    n, mean = len(scores), fmean(scores)
    if n < 2 or mean <= 0:
        raise ValueError(f"CV* needs at least two scores with a mean above 0, found {list(scores)}")
    c4 = math.sqrt(2 / (n - 1)) * math.gamma(n / 2) / math.gamma((n - 1) / 2)
    return 100 * (1 + 1 / (4 * n)) * stdev(scores) / c4 / mean


class Reproduction(NamedTuple):
    """The cells of a model with both values: their number, their mean CV*, and their verdicts by number."""

    model: str
    cells: int
    cv: float
    verdicts: dict[str, int]


def reproductions(table: Table) -> list[Reproduction]:
    """Return the reproductions of a table by model, without composites and differences."""
    by_model = []
    for column in table.columns:
        cells = [table.cells[column.key][row.key] for row in table.rows]
        known = [(cell, cv) for cell in cells if (cv := cell_cv(cell)) is not None]
        if known:
            names = [str(cell.verdict.verdict) if cell.verdict else "no verdict" for cell, _ in known]
            mean = fmean(cv for _, cv in known)
            by_model.append(Reproduction(column.label, len(known), mean, dict(Counter(names))))
    return by_model


def reproductions_as_text(reproductions: Sequence[Reproduction]) -> str:
    """Return the reproductions of a table by model, as text."""
    lines = [
        (
            one.model,
            str(one.cells),
            f"{one.cv:.2f}",
            ", ".join(f"{n} {name}" for name, n in one.verdicts.items()),
        )
        for one in reproductions
    ]
    return "\n".join(aligned([("model", "cells", "CV*", "verdicts"), *lines]))


def cell_cv(cell: Cell) -> float | None:
    """Return CV* of {published, ours}; None if either is missing or their mean is not above 0."""
    if cell.value is None or cell.published is None or cell.value + cell.published.value <= 0:
        return None
    return unbiased_cv([cell.published.value, cell.value])

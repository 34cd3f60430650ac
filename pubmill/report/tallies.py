"""Counts of verdicts over the tables of a report, and the models against the tables."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pubmill.recipes.tables import Column, Row
from pubmill.report.rendering import VERDICTS
from pubmill.tables.cells import Cell, Table

REPRODUCED = "reproduced"
JUDGED = (REPRODUCED, "within the minimal detectable difference", "not reproduced")
"""Verdicts that are tests of a published value."""
LEVELS = 4
"""Steps of the share of reproduced values in a matrix, from none to all."""
COMPOSITE = "score"
"""Metric of a composite over tasks, such as the BLURB score."""


@dataclass(frozen=True)
class VerdictTally:
    """Published values by verdict; those without a value of ours by the reason (`empty`)."""

    verdicts: Counter[str] = field(default_factory=Counter)
    empty: Counter[str] = field(default_factory=Counter)
    tested_verdicts = JUDGED
    """Those that a summary names even if none has been found."""

    @property
    def judged(self) -> int:
        """Number of published values that were tested."""
        return sum(self.verdicts[verdict] for verdict in JUDGED)

    @property
    def reproduced(self) -> int:
        """Number of published values that were reproduced."""
        return self.verdicts[REPRODUCED]

    @property
    def published(self) -> int:
        """Number of published values."""
        return self.verdicts.total() + self.empty.total()

    @property
    def level(self) -> int | None:
        """The share of reproduced values as a step from 0 (none) to `LEVELS` (all); None without a test."""
        if not self.judged:
            return None
        step = round(LEVELS * self.reproduced / self.judged)
        # only none is the lowest step, and only all is the highest
        return min(max(step, self.reproduced > 0), LEVELS - (self.reproduced < self.judged))

    @property
    def short(self) -> str:
        """Reproduced of tested values; else the letter of the most frequent verdict; else a dot."""
        if self.judged:
            return f"{self.reproduced}/{self.judged}"
        return VERDICTS[self.verdicts.most_common(1)[0][0]][1] if self.verdicts else "·"

    @property
    def in_words(self) -> str:
        """The counts as a list in words."""
        counts = {short: self.verdicts[one] for one, (short, _) in VERDICTS.items()}
        counts["without a value of ours"] = self.empty.total()
        parts = [f"{number} {what}" for what, number in counts.items() if number]
        return f"{self.published} published values: {', '.join(parts)}" if parts else "nothing published"


@dataclass(frozen=True)
class ModelLine:
    """One model in the matrix of a paper: its label, and its tally in each table that has a column of it."""

    label: str
    tallies: dict[str, VerdictTally]

    @property
    def tested(self) -> bool:
        """Whether any of its published values has a verdict."""
        return any(counts.verdicts for counts in self.tallies.values())


@dataclass(frozen=True)
class CompositeScore:
    """A composite score of a column."""

    table: str
    row: Row
    column: Column
    cell: Cell


def tally(tables: Iterable[Table]) -> VerdictTally:
    """Return the tally of all published values in the shown rows of tables."""
    counts = VerdictTally()
    for _, _, cell in (shown for table in tables for shown in _shown_cells(table)):
        _add(counts, cell)
    return counts


def model_lines(tables: Mapping[str, Table]) -> list[ModelLine]:
    """Return a line for each model with runs, in the order of the tables; its first label is taken."""
    lines: dict[str, ModelLine] = {}
    for name, table in tables.items():
        for column in (one for one in table.columns if one.model and table.has_runs[one.key]):
            line = lines.setdefault(str(column.model), ModelLine(column.label, {}))
            counts = line.tallies.setdefault(name, VerdictTally())
            for row in table.shown_rows:
                _add(counts, table.cells[column.key][row.key])
    return list(lines.values())


def composite_scores(tables: Mapping[str, Table]) -> list[CompositeScore]:
    """Return the composite scores over tasks that have a value of ours."""
    return [
        CompositeScore(name, row, column, cell)
        for name, table in tables.items()
        for row, column, cell in _shown_cells(table)
        if row.metric == COMPOSITE and cell.value is not None
    ]


def _shown_cells(table: Table) -> Iterator[tuple[Row, Column, Cell]]:
    for row in table.shown_rows:
        for column in table.columns:
            yield row, column, table.cells[column.key][row.key]


def _add(counts: VerdictTally, cell: Cell) -> None:
    if cell.verdict:
        counts.verdicts[cell.verdict.verdict] += 1
    elif cell.published:
        counts.empty[cell.missing or ""] += 1

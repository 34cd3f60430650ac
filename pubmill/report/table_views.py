"""Views of result tables in the report: columns with runs first, the best of each row, differences by margin,
and a card for each cell with runs. Also counts of the verdicts of tables, in total and by model."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

from pubmill.recipes.tables import Column, Row
from pubmill.report.forest_plots import Forest, forests
from pubmill.report.rendering import VERDICTS, marks
from pubmill.tables.cells import NO_RECORD, Cell, ColumnCost, SeedScore, Table, TableNote, column_costs
from pubmill.tables.comparisons import Comparisons

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
    """Verdicts that a summary lists even if their count is 0."""

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
        # the lowest step means none and the highest all, so rounding must not reach them
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


def composite_scores(tables: Mapping[str, Table]) -> list[tuple[str, Row, Column, Cell]]:
    """Return the composite scores over tasks that have a value of ours, with the names of their tables."""
    return [
        (name, row, column, cell)
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


GAPS = (1.0, 2.0, 4.0)
"""Upper ends of the steps of a difference, in margins."""


@dataclass(frozen=True)
class Rival:
    """A cell compared with another of its row. `minus`: label of that one; `difference`: cell minus other."""

    minus: str
    difference: float
    interval: tuple[float, float] | None
    p: float


SIGNS = {
    "★": "best of ours in the row",
    "*": "the paper has a remark on this value, which its card and the notes state",
    "≠": "what the printed parts of a composite or difference give, where that is another value",
}
"""Signs at values -> their meaning."""


@dataclass(frozen=True)
class TableView:
    """A table of results on a page. `anchor`: its id there; `compared`: its models compared, in a report;
    `said`: notes that the page has in another place."""

    name: str
    anchor: str
    table: Table
    compared: Comparisons | None = None
    said: Container[str] = ()

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns; those with runs come first."""
        has_runs = self.table.has_runs
        return tuple(sorted(self.table.columns, key=lambda column: not has_runs[column.key]))

    @cached_property
    def marks(self) -> dict[str, str]:
        """Reason for a missing value, here or in a cell that is referred to -> its mark."""
        cells = [cell for *_, cell in self.table.read()]
        others = [cell.copied_from.cell for cell in cells if cell.copied_from]
        return marks(cell.missing for cell in (*cells, *others))

    @cached_property
    def tally(self) -> VerdictTally:
        """The published values by verdict."""
        return tally([self.table])

    @cached_property
    def forests(self) -> list[Forest]:
        """The differences as figures."""
        return forests(self.table)

    @cached_property
    def best(self) -> dict[str, set[str]]:
        """Row -> the columns with its highest value, rounded to two decimals."""
        keys = [column.key for column in self.columns]
        return {row.key: self.table.best_columns(row, keys) for row in self.table.shown_rows}

    def gap(self, row: Row, cell: Cell) -> int | None:
        """Return the step of a difference on the scale of the margin: 0 within it, 3 beyond four margins;
        None if it must not be compared."""
        if cell.verdict is None or cell.verdict.verdict == "not comparable":
            return None
        margin = self.table.equivalence.margins[row.key].points
        return sum(abs(cell.difference or 0) / margin > end for end in GAPS)

    def rival(self, row: Row, column: Column) -> Rival | None:
        """Return a cell against the best of its row, or the best against the second; None if not compared."""
        rows = self.compared.rows if self.compared else ()
        of = next((one for one in rows if one.row == row.key), None)
        if self.compared is None or of is None or not of.pairs:
            return None
        is_best = column.key == of.best
        nearest = min(of.pairs, key=lambda pair: pair.difference)
        pair = nearest if is_best else next((one for one in of.pairs if one.other == column.key), None)
        if pair is None:
            return None
        sign = 1 if is_best else -1
        ends = sorted(sign * end for end in pair.interval) if pair.interval else None
        return Rival(
            minus=self.compared.column_labels[pair.other if is_best else of.best],
            difference=sign * pair.difference,
            interval=(ends[0], ends[1]) if ends else None,
            p=pair.bootstrap_adjusted,
        )

    @cached_property
    def costs(self) -> dict[str, ColumnCost]:
        """What the runs of each column took, if a language model is asked."""
        return column_costs(self.table)

    @property
    def cards(self) -> dict[Row, list[tuple[Column, Cell]]]:
        """Row -> its cells that have a card: those with anything of ours."""
        cells: dict[Row, list[tuple[Column, Cell]]] = {}
        for row in (*self.table.rows, *self.table.composites):
            for column in self.columns:
                cell = self.table.cells[column.key][row.key]
                if cell.seeds or cell.value is not None:
                    cells.setdefault(row, []).append((column, cell))
        return cells

    @staticmethod
    def runs_by_folder(cell: Cell) -> dict[str, list[SeedScore]]:
        """Return the runs of a cell by the folder of their records; each fold has its own."""
        runs: dict[str, list[SeedScore]] = {}
        for seed in cell.seeds:
            runs.setdefault(str(PurePosixPath(seed.record).parent), []).append(seed)
        return runs

    @property
    def signs(self) -> dict[str, str]:
        """The signs at values of the table, with their meaning."""
        published = [cell.published for _, _, cell in _shown_cells(self.table) if cell.published]
        found = {
            "★": any(self.best.values()),
            "*": any(one.remark for one in published),
            "≠": any(one.recomputed is not None for one in published),
        }
        return {sign: SIGNS[sign] for sign, there in found.items() if there}

    @property
    def notes(self) -> list[TableNote]:
        """The notes that the page has in no other place."""
        return [note for note in self.table.all_notes if note.text not in self.said]


@dataclass(frozen=True)
class TableRuns:
    """The fine-tuning runs of a table, each once even if several cells show it. `recorded`: path of
    the record -> run; `expected`: number of runs with and without a record."""

    recorded: dict[str, SeedScore]
    expected: int

    @property
    def failed(self) -> int:
        """Number of runs without a score."""
        return sum(seed.value is None for seed in self.recorded.values())

    @property
    def seconds(self) -> float:
        """Duration of all runs."""
        return sum(seed.seconds or 0.0 for seed in self.recorded.values())


def table_runs(table: Table) -> TableRuns:
    """Return the runs of a table's fine-tuned models."""
    cells = [cell for _, column, cell in table.read() if not column.supplied]
    seeds = {seed.record: seed for cell in cells for seed in cell.seeds}
    recorded = {record: seed for record, seed in seeds.items() if seed.failed != NO_RECORD}
    return TableRuns(recorded, len(seeds))


def dataset_notes(tables: Iterable[Table]) -> dict[str, tuple[str, ...]]:
    """Return the notes on datasets of the shown rows: label -> contradictory counts, each once."""
    by_label: dict[str, dict[str, None]] = {}
    for row in (row for table in tables for row in table.rows if row.conflicts):
        by_label.setdefault(row.label, {}).update(dict.fromkeys(row.conflicts))
    return {label: tuple(notes) for label, notes in sorted(by_label.items(), key=lambda one: one[0].lower())}


def shared_notes(tables: Mapping[str, Table]) -> dict[str, list[str]]:
    """Return the notes that several tables have, except those on datasets, with the tables' names."""
    on_datasets = _notes_on_datasets(tables.values())
    by_note: dict[str, list[str]] = {}
    for name, table in tables.items():
        for note in table.all_notes:
            by_note.setdefault(note.text, []).append(name)
    return {note: names for note, names in by_note.items() if len(names) > 1 and note not in on_datasets}


def _notes_on_datasets(tables: Iterable[Table]) -> set[str]:
    rows = [row for table in tables for row in table.rows]
    return {f"{row.label}: {conflict}" for row in rows for conflict in row.conflicts}


def table_views(tables: Mapping[str, Table], comparisons: Mapping[str, Comparisons]) -> list[TableView]:
    """Return the views of the tables, in their order."""
    said = {*shared_notes(tables), *_notes_on_datasets(tables.values())}
    return [
        TableView(name, f"t{number}", table, comparisons[name], said)
        for number, (name, table) in enumerate(tables.items(), 1)
    ]

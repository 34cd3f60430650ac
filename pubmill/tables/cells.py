"""Data models of a finished table of results, and how its rows and columns are found by name.

Scores are fractions (0..1) in records and percentages (0..100) everywhere here, as in the papers.
"""

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pandas import DataFrame, Series
from pydantic import Field, TypeAdapter, ValidationError

from pubmill.errors import PubmillError
from pubmill.messages.wording import unknown
from pubmill.metrics.records import ASKED_TOKENS
from pubmill.recipes.fact_tables import FactTableColumn, FactTableRow
from pubmill.recipes.submissions import Price
from pubmill.recipes.tables import Column, ResultHeading, Row, table_title
from pubmill.statistics.verdict_models import SeedsNeeded, Shape, Verdict, rule_in_words
from pubmill.storage.checksums import check_listed
from pubmill.storage.files import read_json

NO_RECORD = "no record"
"""`SeedScore.failed` of a run whose record does not exist."""

COLLAPSED = (
    "Collapsed runs predict the same for every example. As in the papers, they count in {aggregate}, spread "
    "and verdict; Pearson's correlation of equal predictions counts as 0."
)

Parsed = TypeVar("Parsed")
Named = TypeVar("Named", Row, Column, FactTableRow, FactTableColumn)


def is_none(value: Any) -> bool:
    """Return whether a value is None; fields with `exclude_if=is_none` are then left out of files."""
    return value is None


class AskedCost(Shape):
    """Cost of a language model's answers in a run: numbers of prompt and answer tokens, as the server counts
    them, and their price in `currency`, if a price is stated. `unread`: number of answer parts that could not
    be mapped to a prediction; `cut`: number of answers cut off by the token limit."""

    prompt_tokens: int
    answer_tokens: int
    price: float | None = None
    currency: str | None = None
    unread: int = 0
    cut: int = 0

    @property
    def stated(self) -> str:
        """The cost as text."""
        price = "" if self.price is None else f", {self.price:.2f} {self.currency}"
        return f"{self.prompt_tokens:,} + {self.answer_tokens:,} tokens{price}"


class SeedScore(Shape):
    """One run: its score, or why it has none (`failed`). `fold`: its dataset, if the cell has several;
    `record`: path below the results folder; `seconds`: duration of the fine-tuning; `collapsed`: whether its
    predictions are constant; `asked`: a language model's cost. Files omit the last two if unset."""

    seed: int
    value: float | None
    failed: str | None
    fold: str = ""
    record: str = ""
    seconds: float | None = None
    collapsed: bool = Field(default=False, exclude_if=operator.not_)
    asked: AskedCost | None = Field(default=None, exclude_if=is_none)

    @property
    def name(self) -> str:
        """The run's name within its cell: seed, or fold and seed."""
        return f"{self.fold} {self.seed}".strip()


TYPOGRAPHY = ("bold", "underlined", "our best")
"""Notes on published values that only describe typography."""


class TableNote(NamedTuple):
    """A note on a table. `columns`: keys of those that it is on; none: it is on the table."""

    text: str
    columns: tuple[str, ...] = ()


class PublishedValue(Shape):
    """A value from a paper. `printed`: the text as printed. `recomputed`: for a composite or difference, its
    value computed from the printed parts, if it differs beyond rounding."""

    value: float
    printed: str
    note: str
    recomputed: float | None = None

    @property
    def remark(self) -> str:
        """The note without what only describes typography."""
        return "; ".join(part for part in self.note.split("; ") if part not in TYPOGRAPHY)


class OtherCell(Shape):
    """A cell of another table. `column`, `row`: labels; `linked`: whether the study makes that table."""

    table: str
    column: str
    row: str
    linked: bool
    cell: "Cell"

    @property
    def title(self) -> str:
        """The table as a text names it: `gu2020 Table 6`."""
        return table_title(self.table)


class Cell(Shape):
    """Our value and the published one.

    - `value`: None if any expected part is missing or failed; `missing` then gives the reason.
    - `spread`: sample standard deviation over runs.
    - `without_collapsed`: the value without collapsed runs; None if none collapsed, or all.
    - `n`, `expected`: complete and expected parts: seeds (of each fold, if there are folds), datasets of a
      composite, columns of a `best_of` or `drop`, or the two cells of a difference.
    - `difference`: ours minus published; `verdict`: the conclusion from it; None if either value is missing.
    - `copied_from`: the cell that the paper copied the published value from; `minus`: the cell that a
      difference subtracts. Neither these nor `without_collapsed` are written where they are None.
    """

    value: float | None
    spread: float | None
    n: int
    expected: int
    seeds: tuple[SeedScore, ...]
    missing: str | None
    published: PublishedValue | None
    difference: float | None
    verdict: Verdict | None = None
    copied_from: OtherCell | None = Field(default=None, exclude_if=is_none)
    minus: OtherCell | None = Field(default=None, exclude_if=is_none)
    without_collapsed: float | None = Field(default=None, exclude_if=is_none)

    @property
    def other(self) -> OtherCell | None:
        """The cell of another table that this one refers to."""
        return self.copied_from or self.minus

    @property
    def collapsed(self) -> int:
        """Number of runs that collapsed."""
        return sum(seed.collapsed for seed in self.seeds)


def make_cell(published: PublishedValue | None, value: float | None, **fields: Any) -> Cell:
    """Return a cell with its difference from the published value; without runs unless `fields` have them."""
    difference = None if value is None or published is None else value - published.value
    runs = {"spread": None, "seeds": ()}
    return Cell(value=value, published=published, difference=difference, **(runs | fields))


class Provenance(Shape):
    """How the records of a table were made. `runs`, `failed` and `seconds`: number of fine-tuning runs,
    failed runs, and their total duration; `systems`: model that is not fine-tuned here -> what it is."""

    runs: int = 0
    failed: int = 0
    seconds: float = 0.0
    commits: tuple[str, ...] = ()
    packages: dict[str, tuple[str, ...]] = {}
    hardware: tuple[str, ...] = ()
    systems: dict[str, tuple[str, ...]] = {}


class Table(ResultHeading):
    """A complete table: `cells[column][row]`, with composites and differences under their own names;
    `composites`: the rows of both. `silences`: notes on values that the paper leaves blank or that are not
    shown here; `seeds_needed`: by row, where known."""

    composites: tuple[Row, ...]
    cells: dict[str, dict[str, Cell]]
    silences: tuple[str, ...]
    seeds_needed: dict[str, SeedsNeeded]
    provenance: Provenance

    @property
    def shown_rows(self) -> tuple[Row, ...]:
        """The rows that are displayed, then the composites."""
        return (*(row for row in self.rows if row.shown), *self.composites)

    @property
    def refers(self) -> bool:
        """Whether a cell refers to a cell of another table."""
        return any(cell.other for *_, cell in self.read())

    @property
    def collapsed(self) -> bool:
        """Whether a run of a cell collapsed."""
        return any(cell.collapsed for *_, cell in self.read())

    @property
    def asks(self) -> bool:
        """Whether any run of the table prompts a language model."""
        return any(seed.asked for *_, cell in self.read() for seed in cell.seeds)

    @property
    def has_runs(self) -> dict[str, bool]:
        """Column -> whether it has any run or value of ours."""
        cells = {column.key: self.cells[column.key].values() for column in self.columns}
        return {key: any(one.seeds or one.value is not None for one in some) for key, some in cells.items()}

    @property
    def all_notes(self) -> tuple[TableNote, ...]:
        """All notes that belong to the numbers, each once: source, rules, notes, conflicting counts."""
        source = (f"Source of the published values: {self.citation}",) if self.citation else ()
        conflicts = (f"{row.label}: {conflict}" for row in self.rows for conflict in row.conflicts)
        labels = {row.key: row.label for row in (*self.rows, *self.composites)}
        rules = (rule_in_words(self.equivalence, self.aggregate, labels), *self._seeds_note())
        collapsed = (COLLAPSED.format(aggregate=self.aggregate),) if self.collapsed else ()
        before = map(TableNote, (*source, *rules, *collapsed, *self.notes))
        after = map(TableNote, (*self.silences, *conflicts))
        return tuple({note.text: note for note in (*before, *printed_notes(self), *after)}.values())

    def marks(self, column: str, row: str) -> str:
        """Return the numbers of the reasons for a cell, a column (`row` is "") or a row (`column` is "")."""
        place = f"{column}/{row}"
        return ", ".join(str(mark) for mark, one in enumerate(self.reasons, 1) if place in one.cells)

    def _seeds_note(self) -> tuple[str, ...]:
        needs = [(row, self.seeds_needed[row.key]) for row in self.rows if row.key in self.seeds_needed]
        if not needs:
            return ()
        seeds = ", ".join(f"{row.label} {need.seeds} (± {need.spread:.2f})" for row, need in needs)
        rule = self.equivalence
        return (
            "Seeds of each of two models that resolve half a point between them (two-sided t test, "
            f"alpha {rule.alpha:g}, power {rule.power:g}), by the spread within cells of three runs or "
            f"more: {seeds}",
        )

    def best_columns(self, row: Row, columns: Sequence[str]) -> set[str]:
        """Return those of `columns` whose value, rounded to two decimals, is the highest of the row.

        The set is empty if fewer than two have a value, or for a row of differences. Columns computed from
        other columns do not compete.
        """
        if row.metric == "difference":
            return set()
        competing = {column.key for column in self.columns if not column.sources} & set(columns)
        cells = {column: self.cells[column][row.key].value for column in competing}
        values = {column: round(value, 2) for column, value in cells.items() if value is not None}
        highest = max(values.values(), default=0.0)
        return {column for column, value in values.items() if value == highest} if len(values) > 1 else set()

    def read(self) -> Iterator[tuple[Row, Column, Cell]]:
        """Yield the cells in reading order, including those of hidden rows."""
        for row in (*self.rows, *self.composites):
            for column in self.columns:
                yield row, column, self.cells[column.key][row.key]


def printed_notes(table: Table) -> tuple[TableNote, ...]:
    """The notes on published values, each once, with the cells that it applies to."""
    cells = DataFrame(
        [(c.key, c.label, r.label, cell.published.note) for r, c, cell in table.read() if cell.published],
        columns=["key", "column", "row", "note"],
    )
    printed = cells.groupby("column").size()
    notes = cells.assign(note=cells["note"].str.split("; ")).explode("note")
    notes = notes[~notes["note"].isin(["", *TYPOGRAPHY])]
    return tuple(
        TableNote(f"{_note_places(of_note, printed)}: {note}", tuple(of_note["key"].unique()))
        for note, of_note in notes.groupby("note", sort=False)
    )


def _note_places(cells: DataFrame, printed: Series) -> str:
    """Describe the cells of a note by column; a whole column by its label alone."""
    rows = cells.groupby("column", sort=False)["row"].agg(list)
    whole = rows.map(len) == printed.reindex(rows.index)
    if len(rows) == len(printed) and whole.all():
        return "All published values"
    return "; ".join(key if whole[key] else f"{key}, {', '.join(labels)}" for key, labels in rows.items())


def asked_cost(recipe: Mapping[str, Any], encoded: Mapping[str, int]) -> AskedCost | None:
    """Return the cost of a run by its record's fields; None if no language model was asked."""
    if not encoded.keys() >= set(ASKED_TOKENS):
        return None
    read, written = (encoded[name] for name in ASKED_TOKENS)
    price = Price(**stated) if (stated := recipe.get("price")) else None
    return AskedCost(
        prompt_tokens=read,
        answer_tokens=written,
        price=price.of(read, written) if price else None,
        currency=price.currency if price else None,
        unread=encoded.get("unmapped_answers", 0),
        cut=encoded.get("cut_answers", 0),
    )


def total(costs: Iterable[AskedCost]) -> AskedCost | None:
    """Return the sum of some costs; without a price unless all have one in the same currency."""
    asked = list(costs)
    if not asked:
        return None
    currencies = {one.currency for one in asked}
    prices = [one.price for one in asked if one.price is not None]
    is_priced = len(prices) == len(asked) and len(currencies) == 1
    return AskedCost(
        prompt_tokens=sum(one.prompt_tokens for one in asked),
        answer_tokens=sum(one.answer_tokens for one in asked),
        price=sum(prices) if is_priced else None,
        currency=currencies.pop() if is_priced else None,
        unread=sum(one.unread for one in asked),
        cut=sum(one.cut for one in asked),
    )


@dataclass(frozen=True)
class ColumnCost:
    """What all runs of a column took: their number, `seconds` of fine-tuning, or the answers' cost."""

    runs: int
    seconds: float
    asked: AskedCost | None


def column_costs(table: Table) -> dict[str, ColumnCost]:
    """Return column -> cost, for a table in which a language model is asked; empty for others."""
    if not table.asks:
        return {}
    seeds: dict[str, dict[str, SeedScore]] = {}
    for _, column, cell in table.read():
        seeds.setdefault(column.key, {}).update({seed.record: seed for seed in cell.seeds if seed.record})
    return {
        column: ColumnCost(
            runs=len(runs),
            seconds=sum(seed.seconds or 0.0 for seed in runs.values()),
            asked=total(seed.asked for seed in runs.values() if seed.asked),
        )
        for column, runs in seeds.items()
        if runs
    }


def parse(kind: type[Parsed], value: Any, where: str) -> Parsed:
    """Validate parsed JSON against a data model; a `PubmillError` names `where` and every wrong key."""
    model: Any = kind
    try:
        parsed: Parsed = _adapter(model).validate_python(value)
    except ValidationError as error:
        faults = [f"  {'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()]
        raise PubmillError("\n".join([f"{where} is not a {kind.__name__}:", *faults])) from None
    return parsed


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def read_as(kind: type[Parsed], path: Path) -> Parsed:
    """Read a file of JSON as a data model; a `PubmillError` names every wrong key, and a file that differs
    from the SHA-256 beside it."""
    check_listed(path)
    return parse(kind, read_json(path), str(path))


def read_table(path: Path) -> Table:
    """Read a table written by the stage `table`."""
    return read_as(Table, path)


def matching_items(name: str, among: Sequence[Named], key: Callable[[Any], str]) -> list[Named]:
    """Return the items that match `name` by the first rule that finds any: the key is `name`; the label is;
    the first word of key or label is; key or label begins with it. All but the first rule ignore case."""
    wanted = name.casefold()
    names = [(one, key(one), key(one).casefold(), one.label.casefold()) for one in among]
    ways = (
        [one for one, exact, _, _ in names if exact == name],
        [one for one, _, _, label in names if label == wanted],
        [one for one, *_, low, label in names if wanted in (_first_word(low), _first_word(label))],
        [one for one, *_, low, label in names if low.startswith(wanted) or label.startswith(wanted)],
    )
    return next(filter(None, ways), [])


def _first_word(name: str) -> str:
    return re.split(r"[\s@-]", name, maxsplit=1)[0]


def find_unique(what: str, name: str, among: Sequence[Named], key: Callable[[Any], str]) -> Named:
    """Return the item with this name; raise a `PubmillError` with the candidates if it is not unique."""
    matches = matching_items(name, among, key)
    if len(matches) == 1:
        return matches[0]
    if matches:
        meant = ", ".join(label_and_key(key(one), one.label) for one in matches)
        raise PubmillError(f"{name!r} matches several {what}s; give the key of one: {meant}")
    raise PubmillError(unknown(what, name, [label_and_key(key(one), one.label) for one in among]))


def label_and_key(key: str, label: str) -> str:
    return key if key == label else f"{label} ({key})"

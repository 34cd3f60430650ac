"""Tables of what datasets are like: from cards, specs and published values to cells.

A value that differs from the published one is shown with the reason that is written down; where none
is, the table says so.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from pubmill.errors import PubmillError
from pubmill.files import read_json
from pubmill.tables.cards import NAMED, Card, label_bias, read_card
from pubmill.tables.cells import Heading, parse
from pubmill.tables.published import published_lines
from pubmill.tables.shapes import Shape

Kind = Literal["text", "count", "boolean", "ratio"]
Value = bool | int | float | str

UNEXPLAINED = "differs, and neither the dataset's spec nor this table says why"
NO_LABELS = "its examples have no labels that could be counted"
PRINTED = {
    "count": r"\d+",
    "boolean": r"[01]",
    "ratio": r"\d+(\.\d+)?",
    "text": r".+",
}
"""How a published value of each kind is written."""


class DatasetColumn(Shape):
    """`value`: what is shown of a dataset, as in pubmill.specs.tables."""

    key: str
    label: str
    value: str

    @property
    def kind(self) -> Kind:
        if "=" in self.value:
            return "boolean"
        kinds: dict[str, Kind] = {"count": "count", "label_bias": "ratio"}
        return kinds.get(self.value.partition(".")[0], "text")


class Facts(Shape):
    """What a dataset's spec says; `suites` are those of any of its variants."""

    kind: str
    task: str
    domain: str
    metric: str
    suites: tuple[str, ...]


class DatasetRow(Shape):
    """A dataset. `facts` None: there is no such dataset of ours; `card` None: it is not converted in this
    run; `missing` says why. `published`: its name among the published values; `words`: ours -> those of
    the table; `why`: column -> why ours is not the published value; `made_up`: its files are not the
    published ones at this scale."""

    dataset: str
    label: str
    measure: str
    published: str
    words: dict[str, str]
    why: dict[str, str]
    facts: Facts | None
    card: str | None
    missing: str | None
    conflicts: tuple[str, ...] = ()
    made_up: bool = False


class DatasetHeading(Heading):
    """What stands over a table of datasets."""

    columns: tuple[DatasetColumn, ...]
    rows: tuple[DatasetRow, ...]


class DatasetTableRecipe(DatasetHeading):
    """What decides a table of datasets; the rows' cards are below the results folder. `lists_members`:
    the published table names who is in a group, and is silent on who isn't."""

    lists_members: bool = False
    versions: dict[str, Any]


class DatasetCell(Shape):
    """Ours beside the published value, which is kept as printed (a boolean as 1 or 0).

    `equal` is None unless both are there; `reason` says why ours is missing, or why it differs.
    """

    kind: Kind
    value: Value | None
    published: str | None
    note: str
    equal: bool | None
    reason: str | None


class DatasetTable(DatasetHeading):
    """A whole table: `cells[dataset][column]`."""

    cells: dict[str, dict[str, DatasetCell]]

    def read(self) -> Iterator[tuple[DatasetRow, DatasetColumn, DatasetCell]]:
        """The cells in reading order."""
        for row in self.rows:
            for column in self.columns:
                yield row, column, self.cells[row.dataset][column.key]

    def cells_of(self, row: DatasetRow) -> list[DatasetCell]:
        """The cells of a row, in the order of the columns."""
        return [self.cells[row.dataset][column.key] for column in self.columns]

    @property
    def counted(self) -> bool:
        """Whether it shows counts, so that each row must say what is counted."""
        return any(column.kind == "count" for column in self.columns)

    @property
    def summary(self) -> str:
        """How ours compare with the published values, in one sentence."""
        cells = [cell for _, _, cell in self.read() if cell.published is not None]
        equal, differ = (sum(cell.equal is value for cell in cells) for value in (True, False))
        none = len(cells) - equal - differ
        return (
            f"Of {len(cells)} published values, {equal} {'is' if equal == 1 else 'are'} found here, "
            f"{differ} {'differs' if differ == 1 else 'differ'} and {none} "
            f"{'has' if none == 1 else 'have'} nothing of ours beside {'it' if none == 1 else 'them'}."
        )

    @property
    def all_notes(self) -> tuple[str, ...]:
        """Everything that a reader must know: source, notes, and which form of a dataset is meant."""
        source = (f"Source of the published values: {self.citation}",) if self.citation else ()
        named = ", ".join(f"{row.label} {row.dataset}" for row in self.rows if "@" in row.dataset)
        forms = (f"Forms of datasets that there are several of: {named}.",) if named else ()
        return source + self.notes + self._printed_notes + forms

    @property
    def _printed_notes(self) -> tuple[str, ...]:
        """What is noted of published values, each thing once, with the rows that it is noted of."""
        rows: dict[str, dict[str, None]] = {}
        for row, _, cell in self.read():
            for piece in filter(None, cell.note.split("; ")):
                rows.setdefault(piece, {})[row.label] = None
        return tuple(f"{', '.join(labels)}: {piece}" for piece, labels in rows.items())


class PublishedFact(Shape):
    kind: Kind
    printed: str
    note: str


PublishedFacts = dict[tuple[str, str], PublishedFact]
"""(dataset as the paper's table calls it, column) -> what is printed."""


def read_facts(path: Path) -> PublishedFacts:
    """Read `tableNN.published.csv` (row = column of ours, column = dataset); errors name file and line."""
    facts: PublishedFacts = {}
    for where, line in published_lines(path):
        kind, printed = line["metric"], line["value"]
        if kind not in PRINTED or not re.fullmatch(PRINTED[kind], printed):
            raise PubmillError(
                f"{where}: {printed!r} is no {kind!r}; expected a kind of {', '.join(PRINTED)} "
                f"and a value of it, such as 5203, 1, 0.18 or NER"
            )
        fact = {"kind": kind, "printed": printed, "note": line["note"]}
        facts[line["column"], line["row"]] = parse(PublishedFact, fact, where)
    return facts


def read_cards(recipe: DatasetTableRecipe, results: Path) -> dict[str, Card]:
    """The cards of the datasets that are converted in this run."""
    return {row.dataset: read_card(results / row.card) for row in recipe.rows if row.card}


def build(recipe: DatasetTableRecipe, published: PublishedFacts, cards: Mapping[str, Card]) -> DatasetTable:
    """Make the table: every fact of every dataset beside what is printed of it."""
    _refuse_strangers(recipe, published)
    heading = recipe.model_dump(exclude={"lists_members", "versions"})
    cells = {
        row.dataset: {
            column.key: _cell(recipe, row, column, cards.get(row.dataset), published)
            for column in recipe.columns
        }
        for row in recipe.rows
    }
    return DatasetTable(**heading, cells=cells)


def _refuse_strangers(recipe: DatasetTableRecipe, published: PublishedFacts) -> None:
    """Every published value must have a cell of its kind, else a misspelt name would lose it."""
    kinds = {column.key: column.kind for column in recipe.columns}
    datasets = {row.published for row in recipe.rows}
    lost = [
        " / ".join(place)
        for place, fact in published.items()
        if place[0] not in datasets or kinds.get(place[1]) != fact.kind
    ]
    if lost:
        raise PubmillError(
            f"{recipe.paper}/{recipe.table}: published values without a cell of their kind: "
            f"{', '.join(lost)}; correct the names in {recipe.table}.published.csv or in {recipe.table}.yaml"
        )


def _cell(
    recipe: DatasetTableRecipe,
    row: DatasetRow,
    column: DatasetColumn,
    card: Card | None,
    published: PublishedFacts,
) -> DatasetCell:
    value, lacking = _value(row, column, card)
    fact = published.get((row.published, column.key))
    note = fact.note if fact and fact.note != f"printed as {row.label}" else ""
    printed = fact.printed if fact else None
    if printed is None and recipe.lists_members and column.kind == "boolean":
        printed = "0"
    equal = None if value is None or printed is None else _is_equal(value, printed)
    reason = None
    if value is None:
        reason = lacking
    elif equal is False:
        reason = _why_it_differs(recipe, row, column, printed)
    return DatasetCell(
        kind=column.kind,
        value=value,
        published=printed,
        note=note,
        equal=equal,
        reason=reason,
    )


def _value(row: DatasetRow, column: DatasetColumn, card: Card | None) -> tuple[Value | None, str | None]:
    """What is ours, or why there is nothing."""
    field, _, what = column.value.partition("=" if column.kind == "boolean" else ".")
    if row.facts is None:
        return None, row.missing
    if column.kind == "boolean":
        found = getattr(row.facts, field)
        return not set(what.split("|")).isdisjoint({found} if isinstance(found, str) else found), None
    if column.kind == "text":
        term = str(getattr(row.facts, field))
        return row.words.get(term, term), None
    return _figure(row, column, card, what)


def _figure(
    row: DatasetRow, column: DatasetColumn, card: Card | None, split: str
) -> tuple[Value | None, str | None]:
    """A number of the card, or why there is none."""
    if card is None:
        return None, row.missing
    if split not in card.counts:
        return None, f"{row.dataset} has no {split} split"
    if column.kind == "ratio":
        bias = label_bias(card, split)
        return bias, None if bias is not None else NO_LABELS
    if row.measure not in card.counts[split] and not row.measure.startswith(NAMED):
        raise PubmillError(
            f"the table's row {row.dataset} names the measure {row.measure!r}; what is counted of it in "
            f"{split} is {', '.join(card.counts[split])}"
        )
    number = card.count(split, row.measure)
    return number, None if number is not None else f"{row.measure} are not marked in {split} of {row.dataset}"


def _is_equal(value: Value, printed: str) -> bool:
    """Whether ours is what is printed: words without regard to case, ratios at the printed decimals."""
    if isinstance(value, bool):
        return value == (printed == "1")
    if isinstance(value, float):
        return f"{value:.{len(printed.partition('.')[2])}f}" == printed
    return str(value).casefold() == printed.casefold()


def _why_it_differs(
    recipe: DatasetTableRecipe, row: DatasetRow, column: DatasetColumn, printed: str | None
) -> str:
    """Of made-up files, that they are; else what the table's row says, or the dataset's spec: its conflicts
    that name what is printed; of a figure all of them, where none does."""
    if row.made_up and column.kind in ("count", "ratio"):
        return f"not the published files: {recipe.scale_title}"
    if column.key in row.why:
        return row.why[column.key]
    naming = [text for text in row.conflicts if re.search(rf"(?<!\d){re.escape(printed or '')}(?!\d)", text)]
    others = row.conflicts if column.kind in ("count", "ratio") else ()
    return " ".join(naming or others) or UNEXPLAINED


def read_dataset_table(path: Path) -> DatasetTable:
    """Read a table as `scripts/dataset_table.py` wrote it."""
    return parse(DatasetTable, read_json(path), str(path))

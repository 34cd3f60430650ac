"""The shapes of a table of facts: what the job that makes one is told, and what it makes."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pubmill.statistics.verdict_models import Shape
from pubmill.storage.files import read_json
from pubmill.tables.cells import Heading, parse
from pubmill.tables.printed_facts import Kind, Value

SUBJECTS = {"datasets": "Dataset", "models": "Model", "tasks": "Task", "protocols": "Protocol"}


class FactColumn(Shape):
    """`value`: what is shown of a subject, as in pubmill.specs.fact_tables; `published`: its name among the
    published values."""

    key: str
    label: str
    value: str
    kind: Kind
    published: str

    @property
    def fact(self) -> str:
        """The fact without its details: `count` of `count.train`."""
        return re.split(r"[.=]", self.value)[0]

    @property
    def detail(self) -> str:
        """`train` of `count.train`."""
        return self.value[len(self.fact) + 1 :]


class Source(Shape):
    """Where a cell is from: its `value` as a spec says it, or the `files` below the results folder that it
    is read from, or why there is neither (`lacking`). `scaled`: why it differs from what is published, where
    that is the scale's doing."""

    value: Value | None = None
    files: tuple[str, ...] = ()
    lacking: str | None = None
    scaled: str | None = None


class FactRow(Shape):
    """A subject. `measure`: what is counted of a dataset; `published`: its name among the published values;
    `why`: column -> why ours is not the published value; `sources`: column -> where ours is from;
    `conflicts`: where published counts of a dataset disagree."""

    subject: str
    label: str
    measure: str
    published: str
    why: dict[str, str]
    sources: dict[str, Source]
    conflicts: tuple[str, ...] = ()


class FactHeading(Heading):
    """What stands over a table of facts. `down`: the facts run down the page, under this word, and the
    subjects across."""

    subjects: Literal["datasets", "models", "tasks", "protocols"]
    down: str | None = None
    columns: tuple[FactColumn, ...]
    rows: tuple[FactRow, ...]


class FactTableRecipe(FactHeading):
    """What decides a table of facts. `lists_members`: the published table names who is in a group, and is
    silent on who isn't."""

    lists_members: bool = False
    versions: dict[str, Any]


class FactCell(Shape):
    """Ours beside the published value, which is kept as printed (a boolean as 1 or 0).

    `equal` is None unless both are there; `reason` says why ours is missing, or why it differs; `silent`:
    the published table has the cell, and no value in it, as `note` says.
    """

    kind: Kind
    value: Value | None
    published: str | None
    note: str
    silent: bool = False
    equal: bool | None
    reason: str | None


class Line(NamedTuple):
    """A line of a table on the page: what stands before it, below that what is counted and what is noted of
    all its published values, and its cells."""

    label: str
    measure: str
    note: str
    cells: list[FactCell]

    @property
    def below(self) -> str:
        return "; ".join(filter(None, (self.measure, self.note)))


class FactTable(FactHeading):
    """A whole table: `cells[subject][column]`; `machines`: those that times were measured on."""

    cells: dict[str, dict[str, FactCell]]
    machines: tuple[str, ...] = ()

    def read(self) -> Iterator[tuple[FactRow, FactColumn, FactCell]]:
        """The cells, subject by subject."""
        for row in self.rows:
            for column in self.columns:
                yield row, column, self.cells[row.subject][column.key]

    @property
    def corner(self) -> str:
        """What stands over the beginnings of the lines."""
        return self.down or SUBJECTS[self.subjects]

    @property
    def across(self) -> list[tuple[str, bool]]:
        """The words over the columns on the page, and whether text stands below."""
        if self.down:
            return [(row.label, False) for row in self.rows]
        return [(column.label, column.kind == "text") for column in self.columns]

    @property
    def lines(self) -> list[Line]:
        """The lines on the page."""
        if self.down:
            return [
                _line(column.label, "", [self.cells[row.subject][column.key] for row in self.rows])
                for column in self.columns
            ]
        return [
            _line(
                row.label,
                row.measure.replace("_", " ") if self._counted else "",
                [self.cells[row.subject][column.key] for column in self.columns],
            )
            for row in self.rows
        ]

    @property
    def _counted(self) -> bool:
        """Whether it counts examples, so that each line must say what is counted."""
        return any(column.fact == "count" for column in self.columns)

    @property
    def reasons(self) -> list[str]:
        """Why cells are empty or differ, in reading order."""
        return [cell.reason for line in self.lines for cell in line.cells if cell.reason]

    @property
    def summary(self) -> str:
        """How ours compare with the published values, in one sentence."""
        cells = [cell for _, _, cell in self.read() if cell.published is not None]
        if not cells:
            return "No published value is known, so there is nothing to compare ours with."
        equal, differ = (sum(cell.equal is value for cell in cells) for value in (True, False))
        none = len(cells) - equal - differ
        return (
            f"Of {len(cells)} published values, {equal} {'is' if equal == 1 else 'are'} found here, "
            f"{differ} {'differs' if differ == 1 else 'differ'} and {none} "
            f"{'has' if none == 1 else 'have'} nothing of ours beside {'it' if none == 1 else 'them'}."
        )

    @property
    def all_notes(self) -> tuple[str, ...]:
        """Everything that a reader must know: source, notes, and which form of a subject is meant."""
        source = (f"Source of the published values: {self.citation}",) if self.citation else ()
        named = ", ".join(f"{row.label} {row.subject}" for row in self.rows if "@" in row.subject)
        forms = (f"Forms of {self.subjects} that there are several of: {named}.",) if named else ()
        machines = (f"Measured on: {'; '.join(self.machines)}.",) if self.machines else ()
        return source + self.notes + self._printed_notes + forms + machines

    @property
    def _printed_notes(self) -> tuple[str, ...]:
        """What is noted of some published values, each thing once, with the lines that it is noted of."""
        lines: dict[str, dict[str, None]] = {}
        for line in self.lines:
            for cell in line.cells if not line.note else ():
                for piece in filter(None, pieces(cell.note)):
                    lines.setdefault(piece, {})[line.label] = None
        return tuple(f"{', '.join(labels)}: {piece}" for piece, labels in lines.items())


def pieces(note: str) -> list[str]:
    """The remarks that a note is made of; what stands in brackets belongs together."""
    return re.split(r"; (?![^(]*\))", note)


def _line(label: str, measure: str, cells: list[FactCell]) -> Line:
    notes = [cell.note for cell in cells if cell.published is not None or cell.silent]
    common = notes[0] if len(notes) > 1 and len(set(notes)) == 1 else ""
    return Line(label, measure, common, cells)


def read_fact_table(path: Path) -> FactTable:
    """Read a table as `scripts/fact_table.py` wrote it."""
    return parse(FactTable, read_json(path), str(path))

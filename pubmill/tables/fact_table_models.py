"""Data models of a finished fact table."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from pandas import DataFrame

from pubmill.recipes.fact_tables import FactHeading, FactKind, FactTableColumn, FactTableRow, FactValue
from pubmill.statistics.verdict_models import Shape

SUBJECTS = {"datasets": "Dataset", "models": "Model", "tasks": "Task", "protocols": "Protocol"}


class FactCell(Shape):
    """Our value and the published one, which is kept as printed (a boolean as 1 or 0).

    `equal`: None if either is missing, or if the scale uses other data or a smaller recipe, so that a
    difference does not count; `reason`: why ours is missing, differs or is not compared; `silent`: the
    published table leaves the cell empty, as `note` explains.
    """

    kind: FactKind
    value: FactValue | None
    published: str | None
    note: str
    silent: bool = False
    equal: bool | None
    reason: str | None

    @property
    def spelt_out(self) -> str | None:
        """The published value where a table shows it: it differs from ours, or there is nothing of ours."""
        return self.published if self.value is None or self.equal is False else None


class TableLine(NamedTuple):
    """A line of a printed table: its label, the measure and the note on all its published values (both
    printed below the label), and its cells."""

    label: str
    measure: str
    note: str
    cells: list[FactCell]

    @property
    def below(self) -> str:
        """The text below the label."""
        return "; ".join(filter(None, (self.measure, self.note)))


class FactTable(FactHeading):
    """A complete table: `cells[subject][column]`; `machines`: machines on which times were measured."""

    cells: dict[str, dict[str, FactCell]]
    machines: tuple[str, ...] = ()

    def read(self) -> Iterator[tuple[FactTableRow, FactTableColumn, FactCell]]:
        """Yield the cells, subject by subject."""
        for row in self.rows:
            for column in self.columns:
                yield row, column, self.cells[row.subject][column.key]

    @property
    def corner(self) -> str:
        """The heading of the label column."""
        return self.down or SUBJECTS[self.subjects]

    @property
    def across(self) -> list[tuple[str, bool]]:
        """The headings of the printed columns, and whether each column contains text."""
        if self.down:
            return [(row.label, False) for row in self.rows]
        return [(column.label, column.kind == "text") for column in self.columns]

    @property
    def lines(self) -> list[TableLine]:
        """The lines of the printed table."""
        if self.down:
            return [
                _line(column.label, "", [self.cells[row.subject][column.key] for row in self.rows])
                for column in self.columns
            ]
        counts = any(column.fact == "count" for column in self.columns)
        measures = [row.measure.replace("_", " ") if counts else "" for row in self.rows]
        cells = ([self.cells[row.subject][column.key] for column in self.columns] for row in self.rows)
        return list(map(_line, [row.label for row in self.rows], measures, cells))

    @property
    def reasons(self) -> list[str]:
        """Why cells are empty, differ or are not compared, in reading order."""
        return [cell.reason for line in self.lines for cell in line.cells if cell.reason]

    @property
    def summary(self) -> str:
        """One sentence on how our values compare with the published ones."""
        cells = [cell for _, _, cell in self.read() if cell.published is not None]
        if not cells:
            return "No published value is known, so there is nothing to compare ours with."
        equal, differ = (sum(cell.equal is value for cell in cells) for value in (True, False))
        none = sum(cell.value is None for cell in cells)
        apart = len(cells) - equal - differ - none
        beside = f", {apart} {'is' if apart == 1 else 'are'} not compared" if apart else ""
        return (
            f"Of {len(cells)} published values, {equal} {'is' if equal == 1 else 'are'} found here, "
            f"{differ} {'differs' if differ == 1 else 'differ'}{beside} and {none} "
            f"{'has' if none == 1 else 'have'} nothing of ours beside {'it' if none == 1 else 'them'}."
        )

    @property
    def all_notes(self) -> tuple[str, ...]:
        """All notes that belong to the table: source, notes, variants of subjects, and machines."""
        source = (f"Source of the published values: {self.citation}",) if self.citation else ()
        named = ", ".join(f"{row.label} {row.subject}" for row in self.rows if "@" in row.subject)
        forms = (f"Forms of {self.subjects} that there are several of: {named}.",) if named else ()
        machines = (f"Measured on: {'; '.join(self.machines)}.",) if self.machines else ()
        return source + self.notes + self._printed_notes + forms + machines

    @property
    def _printed_notes(self) -> tuple[str, ...]:
        """The notes on individual published values, each once, with the lines that it applies to."""
        notes = DataFrame(
            [(line.label, cell.note) for line in self.lines if not line.note for cell in line.cells],
            columns=["line", "note"],
        )
        notes = notes.assign(note=notes["note"].map(pieces)).explode("note").drop_duplicates()
        groups = notes[notes["note"] != ""].groupby("note", sort=False)["line"]
        return tuple(f"{', '.join(lines)}: {note}" for note, lines in groups)


def pieces(note: str) -> list[str]:
    """Split a note into its remarks; text in brackets is kept together."""
    return re.split(r"; (?![^(]*\))", note)


def _line(label: str, measure: str, cells: list[FactCell]) -> TableLine:
    notes = [cell.note for cell in cells if cell.published is not None or cell.silent]
    common = notes[0] if len(notes) > 1 and len(set(notes)) == 1 else ""
    return TableLine(label, measure, common, cells)

"""Published values of result tables: `tableNN.published.csv`, as transcribed from the papers.

A blank value is one that the paper does not print; its note says so.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from pubmill.errors import PubmillError
from pubmill.tables.cells import Column, Composite, PublishedValue, Row, TableRecipe

COLUMNS = ["row", "column", "metric", "value", "note"]

PrintedAt = tuple[str, str, str]
"""Key of a published value: row, column and metric of the published file."""


class PublishedValues:
    """The values that a table prints, and the notes on cells that it leaves blank."""

    def __init__(self) -> None:
        self.values: dict[PrintedAt, PublishedValue] = {}
        self.blank: dict[PrintedAt, str] = {}

    def of(self, column: Column, row: Row) -> PublishedValue | None:
        """The published value of a cell, or None."""
        return next((self.values[place] for place in places(column, row) if place in self.values), None)


def places(column: Column, row: Row) -> list[PrintedAt]:
    """Keys under which the published value of a cell may be; the metric of a drop is `delta`."""
    metric = "delta" if column.drop else row.printed
    return [(name, row.published, metric) for name in column.published]


def read_published(path: Path, left_out: Mapping[str, str] = MappingProxyType({})) -> PublishedValues:
    """Read `tableNN.published.csv` (row = model, column = dataset) except what is `left_out`; errors name
    file and line."""
    published = PublishedValues()
    for where, line in published_lines(path):
        place = line["row"], line["column"], line["metric"]
        if line["column"] in left_out or "/".join(place[1:]) in left_out:
            continue
        if not line["value"] and line["note"]:
            published.blank[place] = line["note"]
        elif re.fullmatch(r"[+-]?\d+(\.\d+)?", line["value"]):
            value = PublishedValue(value=float(line["value"]), printed=line["value"], note=line["note"])
            published.values[place] = value
        else:
            raise PubmillError(
                f"{where}: the value {line['value']!r} is not a number, such as 93.33; leave it empty with a "
                "note where the paper prints none"
            )
    return published


def published_lines(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the lines of a file of published values, each with its `file:line`, which errors name too."""
    seen: set[PrintedAt] = set()
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != COLUMNS:
            raise PubmillError(f"{path}:1: the header is {reader.fieldnames}, expected {COLUMNS}")
        for line in reader:
            where = f"{path}:{reader.line_num}"
            if None in line or None in line.values():
                raise PubmillError(
                    f"{where}: expected {len(COLUMNS)} fields; quote notes that contain commas"
                )
            key = line["row"], line["column"], line["metric"]
            if key in seen:
                raise PubmillError(f"{where}: duplicate entry {' / '.join(key)}; remove one")
            seen.add(key)
            yield where, line


def check_keys(recipe: TableRecipe, published: PublishedValues) -> None:
    """Refuse published values without a cell, which a misspelt name would silently drop."""
    rows = (*recipe.rows, *(composite.row for composite in recipe.composites))
    cells = {place for column in recipe.columns for row in rows for place in places(column, row)}
    lost = [" / ".join(place) for place in (*published.values, *published.blank) if place not in cells]
    if lost:
        raise PubmillError(
            f"{recipe.paper}/{recipe.table}: published values without a cell: {', '.join(lost)}; "
            f"correct the names in {recipe.table}.yaml, or say there why they are `left_out`"
        )


def notes_on_missing(recipe: TableRecipe, published: PublishedValues) -> tuple[str, ...]:
    """The notes on blank values, with their numbers, and the reasons why other values are not shown."""
    notes = [note.split("; ")[-1] for note in published.blank.values()]
    counts = {note: notes.count(note) for note in dict.fromkeys(notes)}
    blank = (f"No published value in {n} cell{'s' * (n > 1)}: {note}" for note, n in counts.items())
    hidden = (f"Not shown of the published table: {key} ({why})" for key, why in recipe.left_out.items())
    return (*blank, *hidden)


def recomputed(
    composite: Composite, parts: Mapping[str, PublishedValue | None]
) -> tuple[float, float] | None:
    """Return a composite computed from printed values, and its largest rounding error; None if a part is not
    printed."""
    names = [name for group in composite.groups.values() for name in group]
    known = {name: part for name in names if (part := parts[name])}
    if len(known) < len(set(names)):
        return None
    value = composite.mean({name: part.value for name, part in known.items()})
    return value, max(half_unit(part.printed) for part in known.values())


def with_recomputed(
    composite: Composite, printed: PublishedValue | None, parts: Mapping[str, PublishedValue | None]
) -> PublishedValue | None:
    """Return a printed composite, with `recomputed` set if it does not follow from the printed parts within
    rounding."""
    found = recomputed(composite, parts)
    if printed is None or found is None:
        return printed
    value, slack = found
    follows = abs(value - printed.value) <= slack + half_unit(printed.printed) + 1e-9
    return printed if follows else printed.model_copy(update={"recomputed": value})


def half_unit(printed: str) -> float:
    """Return half a unit of the last printed digit."""
    return 0.5 * 10.0 ** -len(printed.partition(".")[2])

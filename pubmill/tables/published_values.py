"""The values that a paper prints: `tableNN.published.csv`, as transcribed.

A blank value is one that the paper does not print; the note beside it says so.
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
"""Where a published value stands: row, column and metric of the published file."""


class Published:
    """The values a paper prints, and what is noted where it prints none."""

    def __init__(self) -> None:
        self.values: dict[PrintedAt, PublishedValue] = {}
        self.blank: dict[PrintedAt, str] = {}

    def of(self, column: Column, row: Row) -> PublishedValue | None:
        """The value of a cell."""
        return next((self.values[place] for place in places(column, row) if place in self.values), None)


def places(column: Column, row: Row) -> list[PrintedAt]:
    """Where the published value of a cell may stand; a drop is printed as `delta`."""
    metric = "delta" if column.drop else row.printed
    return [(name, row.published, metric) for name in column.published]


def read_published(path: Path, left_out: Mapping[str, str] = MappingProxyType({})) -> Published:
    """Read `tableNN.published.csv` (row = model, column = dataset) but for what is `left_out`; errors name
    file and line."""
    published = Published()
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
    """The lines of a file of published values, each with where it stands; errors name file and line."""
    seen: set[PrintedAt] = set()
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != COLUMNS:
            raise PubmillError(f"{path}:1: the header is {reader.fieldnames}, expected {COLUMNS}")
        for line in reader:
            where = f"{path}:{reader.line_num}"
            if None in line or None in line.values():
                raise PubmillError(f"{where}: expected {len(COLUMNS)} fields; quote a note that holds commas")
            key = line["row"], line["column"], line["metric"]
            if key in seen:
                raise PubmillError(f"{where}: {' / '.join(key)} stands here for the second time; remove one")
            seen.add(key)
            yield where, line


def refuse_strangers(recipe: TableRecipe, published: Published) -> None:
    """Every published value must have a cell, else a misspelt name would lose it."""
    rows = (*recipe.rows, *(composite.row for composite in recipe.composites))
    cells = {place for column in recipe.columns for row in rows for place in places(column, row)}
    lost = [" / ".join(place) for place in (*published.values, *published.blank) if place not in cells]
    if lost:
        raise PubmillError(
            f"{recipe.paper}/{recipe.table}: published values without a cell: {', '.join(lost)}; "
            f"correct the names in {recipe.table}.yaml, or say there why they are `left_out`"
        )


def silences(recipe: TableRecipe, published: Published) -> tuple[str, ...]:
    """What is noted of blank values, with how many there are, and why others are not shown."""
    notes = [note.split("; ")[-1] for note in published.blank.values()]
    told = dict.fromkeys(notes)
    counts = {note: notes.count(note) for note in told}
    blank = (f"No published value in {n} cell{'s' * (n > 1)}: {note}" for note, n in counts.items())
    hidden = (f"Not shown of the published table: {key} ({why})" for key, why in recipe.left_out.items())
    return (*blank, *hidden)


def recomputed(
    composite: Composite, parts: Mapping[str, PublishedValue | None]
) -> tuple[float, float] | None:
    """A composite of printed values, and how far rounding may put it from the true one; None where a part
    is not printed."""
    names = [name for group in composite.groups.values() for name in group]
    known = {name: part for name in names if (part := parts[name])}
    if len(known) < len(set(names)):
        return None
    value = composite.mean({name: part.value for name, part in known.items()})
    return value, max(half_unit(part.printed) for part in known.values())


def with_recomputed(
    composite: Composite, printed: PublishedValue | None, parts: Mapping[str, PublishedValue | None]
) -> PublishedValue | None:
    """A printed composite, marked where it does not follow from the printed parts within rounding."""
    found = recomputed(composite, parts)
    if printed is None or found is None:
        return printed
    value, slack = found
    follows = abs(value - printed.value) <= slack + half_unit(printed.printed) + 1e-9
    return printed if follows else printed.model_copy(update={"recomputed": value})


def half_unit(printed: str) -> float:
    """Half of the last digit's place."""
    return 0.5 * 10.0 ** -len(printed.partition(".")[2])

"""Published values of result tables: `tableNN.published.csv`, as transcribed from the papers.

They are DataFrames with these columns:

- `column`, `row`, `metric`: the names under which the value is printed, of a column and a row of the spec;
  together they are unique.
- `value`: the number; NaN where the paper prints none, as the note says.
- `printed`: the text as printed; empty where the paper prints none.
- `note`: a remark, or empty.
"""

import csv
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pandas import DataFrame

from pubmill.errors import PubmillError
from pubmill.messages.wording import nearest
from pubmill.metrics import METRICS
from pubmill.recipes.tables import Composite, PublishedColumn, PublishedRow, TableRecipe
from pubmill.specs import DatasetSpec, Specs
from pubmill.tables.cells import PublishedValue

NAMES = ["column", "row", "metric"]
"""Columns that identify a published value."""
NEAREST = 3
"""Number of similar cells that an error names for a value without a cell."""
COLUMNS = [*NAMES, "value", "note"]
"""Columns of the files; the first two may be exchanged."""
HIGHEST = 100.0
"""Points of the best score."""

PrintedAt = tuple[str, str, str]
"""Column, row and metric of a published value."""


class PublishedScore(NamedTuple):
    """A published value in per cent, with its table and the name of its model there."""

    value: float
    table: str
    model: str


def published(paper: str, table: str, specs: Path = Path("specs")) -> DataFrame:
    """Read the published values of a result table, such as `published("gu2020", "table06")`."""
    return read_published(specs / "tables" / paper / f"{table}.published.csv")


def read_published(path: Path, left_out: Mapping[str, str] = MappingProxyType({})) -> DataFrame:
    """Read `tableNN.published.csv`, indexed by `file:line`, except rows (or row/metric) in `left_out`."""
    lines = _lines_kept(path, left_out)
    if wrong := _wrong_values(lines):
        raise PubmillError("\n".join(wrong))
    lines = lines.rename(columns={"value": "printed"})
    numbers = lines["printed"].map(lambda printed: float(printed or "nan"))
    lines.insert(3, "value", numbers.astype("float64"))
    return lines


def _wrong_values(lines: DataFrame) -> list[str]:
    """Return an error for each value that is not a number, or is a score beyond 100 points."""
    blank = (lines["value"] == "") & (lines["note"] != "")
    numbers = lines["value"].str.fullmatch(r"[+-]?\d+(\.\d+)?")
    wrong = [
        f"{line.Index}: the value {line.value!r} is not a number, such as 93.33; leave it empty with a note "
        "where the paper prints none"
        for line in lines[~blank & ~numbers].itertuples()
    ]
    return wrong + [
        f"{line.Index}: {line.metric} is a score of 0 to 100 points, not {line.value}"
        for line in lines[numbers & lines["metric"].isin(METRICS)].itertuples()
        if abs(float(line.value)) > HIGHEST
    ]


def _lines_kept(path: Path, left_out: Mapping[str, str]) -> DataFrame:
    lines = published_lines(path)
    of_metric = lines["row"] + "/" + lines["metric"]
    return lines[~lines["row"].isin(left_out) & ~of_metric.isin(left_out)][COLUMNS]


def published_lines(path: Path) -> DataFrame:
    """Read a file of published values as text, its columns in the file's order, indexed by `file:line`."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.reader(file, strict=True)
            header, *lines = [(reader.line_num, fields) for fields in reader] or [(1, [])]
    except (csv.Error, UnicodeDecodeError) as error:
        raise PubmillError(f"{path}: not a CSV file in UTF-8: {error}") from None
    names = header[1]
    if names not in (COLUMNS, ["row", "column", *COLUMNS[2:]]):
        shown = f"{names!r:.200}" if names else "missing"
        raise PubmillError(f"{path}:1: the header is {shown}, expected {COLUMNS}")
    kept, broken, again = dict[str, list[str]](), list[str](), list[str]()
    known = set[tuple[str, ...]]()
    for where, fields in ((f"{path}:{number}", fields) for number, fields in lines if fields):
        if len(fields) != len(COLUMNS):
            broken.append(f"{where}: expected {len(COLUMNS)} fields; quote notes that contain commas")
        elif tuple(fields[:3]) in known:
            again.append(f"{where}: duplicate entry {' / '.join(fields[:3])}; remove one")
        known.add(tuple(fields[:3]))
        kept[where] = fields
    if faults := [*broken, *again]:
        raise PubmillError("\n".join(faults))
    return DataFrame([*kept.values()], [*kept], names, dtype="str")


def places(column: PublishedColumn, row: PublishedRow) -> list[PrintedAt]:
    """Names under which the published value of a cell may be."""
    return [(name, row.published, column.printed_metric(row)) for name in column.published]


def published_scores(data: DatasetSpec, specs: Specs, folder: Path) -> Iterator[PublishedScore]:
    """Yield the published values of a dataset by its main metric, without those that a table marks as not
    comparable with the dataset."""
    for name, table in specs.tables.items():
        rows = [row for row in table.rows if row.dataset == data.name and not row.not_comparable]
        names = {
            (row.published or row.dataset.partition("@")[0], row.printed or data.metric)
            for row in rows
            if table.metric_of(row, data) == data.metric
        }
        if names:
            values = read_published(folder / f"tables/{name}.published.csv", table.left_out)
            for one in values.dropna(subset="value").itertuples():
                if (one.row, one.metric) in names:
                    yield PublishedScore(float(one.value), name, str(one.column))


def published_of_cells(
    columns: Sequence[PublishedColumn], rows: Sequence[PublishedRow], published: DataFrame
) -> dict[tuple[str, str], PublishedValue]:
    """Return (column key, row key) -> published value; if several names have one, the first name's."""
    known = published.dropna(subset="value").set_index(NAMES)
    values = _cell_names(columns, rows).join(known, on=NAMES, how="inner")
    values = values.drop_duplicates(["in_column", "in_row"])
    return {
        (one.in_column, one.in_row): PublishedValue(value=one.value, printed=one.printed, note=one.note)
        for one in values.itertuples()
    }


def _cell_names(columns: Sequence[PublishedColumn], rows: Sequence[PublishedRow]) -> DataFrame:
    """Return one line per cell and name under which its published value may be."""
    cells = itertools.product(columns, rows)
    lines = [(column.key, row.key, *place) for column, row in cells for place in places(column, row)]
    return DataFrame(lines, columns=["in_column", "in_row", *NAMES], dtype="str")


def lost_values(recipe: TableRecipe, published: DataFrame) -> list[str]:
    """Return a line for each value without a cell, as of a misspelt name, between a heading and advice."""
    cells = _cell_names(recipe.columns, recipe.all_rows)[NAMES]
    known, lost = [" / ".join(names) for names in cells.itertuples(index=False)], list[str]()
    for where, column, row, metric in published[~_has_cell(recipe, published)][NAMES].itertuples():
        name = f"{column} / {row} / {metric}"
        if f"{row} / {column} / {metric}" in known:
            why = f": row and column are exchanged; in the spec {row!r} is a column and {column!r} a row"
        else:
            why = f"; the nearest: {'; '.join(nearest(name, known)[:NEAREST]) or 'none'}"
        lost.append(f"{where}: no cell {name}{why}")
    head = f"{recipe.paper}/{recipe.table}: published values without a cell"
    file = f"{recipe.table}.yaml"
    advice = f"correct the names, or add to {file} `left_out: {{ROW: why}}`, or `ROW/METRIC: why`"
    return [head, *lost, advice] if lost else []


def check_published(path: Path, recipe: TableRecipe) -> None:
    """Refuse published values that are wrong or have no cell; one error names both kinds."""
    lines = _lines_kept(path, recipe.left_out)
    if faults := [*_wrong_values(lines), *lost_values(recipe, lines)]:
        raise PubmillError("\n".join(faults))


def with_cells(recipe: TableRecipe, published: DataFrame) -> DataFrame:
    """Return the published values that have a cell in the table."""
    return published[_has_cell(recipe, published)]


def _has_cell(recipe: TableRecipe, published: DataFrame) -> NDArray[np.bool_]:
    known = _cell_names(recipe.columns, recipe.all_rows).set_index(NAMES).index
    return np.asarray(published.set_index(NAMES).index.isin(known))


def notes_on_missing(recipe: TableRecipe, published: DataFrame) -> tuple[str, ...]:
    """Return each note on blank values, with their number, and why values in `left_out` are not shown."""
    notes = published["note"][published["value"].isna()].str.split("; ").str[-1]
    counts = notes.groupby(notes, sort=False).size()
    blank = (f"No published value in {n} cell{'s' * (n > 1)}: {note}" for note, n in counts.items())
    hidden = (f"Not shown of the published table: {key} ({why})" for key, why in recipe.left_out.items())
    return (*blank, *hidden)


def with_recomputed(
    composite: Composite, printed: PublishedValue | None, parts: Mapping[str, PublishedValue | None]
) -> PublishedValue | None:
    """Return a printed composite, with `recomputed` set if it doesn't follow from the printed parts, of which
    none may be missing."""
    names = {name for group in composite.groups.values() for name in group}
    known = {name: part for name in names if (part := parts[name])}
    if printed is None or len(known) < len(names):
        return printed
    value = composite.mean({name: part.value for name, part in known.items()})
    return marked_unless_following(printed, value, max(half_unit(part.printed) for part in known.values()))


def marked_unless_following(printed: PublishedValue, value: float, slack: float) -> PublishedValue:
    """Return a printed value, with `recomputed` set to the `value` that its parts give if the two differ by
    more than the rounding of the parts (`slack`) and its own."""
    follows = abs(value - printed.value) <= slack + half_unit(printed.printed) + 1e-9
    return printed if follows else printed.model_copy(update={"recomputed": value})


def half_unit(printed: str) -> float:
    """Return half a unit of the last printed digit."""
    return 0.5 * 10.0 ** -len(printed.partition(".")[2])


def table_numbers(paper: str, numbers: Collection[int]) -> str:
    """Return tables of a paper as a text names them: `gu2020 Tables 6, 7`."""
    return f"{paper} Table{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"

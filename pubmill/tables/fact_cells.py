"""Build the cells of fact tables from specs, artefacts and published values.

A value that differs from the published one is shown with its documented reason; if there is none, the table
says so.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from pandas import DataFrame

from pubmill.errors import PubmillError
from pubmill.recipes.fact_tables import FactHeading, FactTableColumn, FactTableRecipe, FactTableRow
from pubmill.recipes.tables import values_of
from pubmill.tables.fact_sources import Artefacts, found, machines
from pubmill.tables.fact_table_models import (
    FactCell,
    FactTable,
    pieces,
)
from pubmill.tables.printed_facts import PATTERNS, is_equal, is_of_kind
from pubmill.tables.published_values import published_lines

UNEXPLAINED = "differs, and neither the specs nor this table say why"


class PublishedFact(NamedTuple):
    """A published fact. `printed` is None if the paper's table leaves the cell empty, as the note
    explains."""

    printed: str | None
    note: str


NAMES = ["subject", "fact", "kind"]
"""Columns that identify a published fact."""


def read_facts(path: Path, recipe: FactTableRecipe) -> DataFrame:
    """Read `tableNN.published.csv` as a DataFrame; errors name file and line. Its columns:

    - `subject`, `fact`, `kind`: the names under which the fact is printed (the subject is the file's row, the
      fact its column); together they are unique.
    - `printed`: the fact as printed; empty if the paper's table leaves the cell empty, as the note explains.
    - `note`: a remark, or empty.
    """
    lines = published_lines(path)
    for line in lines.itertuples():
        kind, printed, note = line.metric, line.value, line.note
        if not (note if not printed else is_of_kind(printed, kind)):
            raise PubmillError(
                f"{line.Index}: {printed!r} is not a valid {kind!r}; expected one of the kinds "
                f"{', '.join(PATTERNS)} and a value of that kind, such as 5203, 1, 0.18 or NER, or no value "
                f"and an explaining note"
            )
    names = {"row": "subject", "column": "fact", "metric": "kind", "value": "printed"}
    return lines.rename(columns=names).reset_index(drop=True)[[*NAMES, "printed", "note"]]


def build(recipe: FactTableRecipe, published: DataFrame, artefacts: Artefacts) -> FactTable:
    """Build the table: every fact of every subject, with its published value."""
    _check_keys(recipe, published)
    facts = {
        (one.subject, one.fact, one.kind): PublishedFact(one.printed or None, one.note)
        for one in published.itertuples()
    }
    rows = tuple(
        replace(row, sources={key: source.complete for key, source in row.sources.items()})
        for row in recipe.rows
    )
    heading = values_of(FactHeading, recipe) | {"rows": rows}
    cells = {
        row.subject: {
            column.key: _fact_cell(recipe, row, column, artefacts, facts) for column in recipe.columns
        }
        for row in rows
    }
    return FactTable(**heading, cells=cells, machines=machines(artefacts))


def _check_keys(recipe: FactTableRecipe, published: DataFrame) -> None:
    """Refuse published values without a cell of their kind, which a misspelt name would silently drop."""
    places = [
        (row.published, column.published, column.kind) for row in recipe.rows for column in recipe.columns
    ]
    names = published.set_index(NAMES).index
    lost = [" / ".join(place) for place in names[~names.isin(places)]]
    if lost:
        raise PubmillError(
            f"{recipe.paper}/{recipe.table}: published values without a cell of their kind: "
            f"{', '.join(lost)}; correct the names in {recipe.table}.published.csv or in {recipe.table}.yaml"
        )


def _fact_cell(
    recipe: FactTableRecipe,
    row: FactTableRow,
    column: FactTableColumn,
    artefacts: Artefacts,
    published: Mapping[tuple[str, str, str], PublishedFact],
) -> FactCell:
    source = row.sources[column.key]
    value, lacking = source.value, source.lacking
    if source.paths:
        value, lacking = found(row, column, artefacts)
    fact = published.get((row.published, column.published, column.kind))
    printed = fact.printed if fact else None
    if fact is None and recipe.lists_members and column.kind == "boolean":
        printed = "0"
    equal = None if value is None or printed is None else is_equal(value, printed, column.kind)
    differs = _difference_reason(row, column, printed) if equal is False else None
    if equal is False and source.scaled:
        equal = None
    return FactCell(
        kind=column.kind,
        value=value,
        published=printed,
        note=_relevant_note(fact.note, row.label) if fact else "",
        silent=fact is not None and printed is None,
        equal=equal,
        reason=lacking if value is None else differs,
    )


def _relevant_note(note: str, label: str) -> str:
    """Remove the remark on how the subject's name is printed from a note, if it differs from ours only in
    spaces."""
    printed = f"printed as {label}".replace(" ", "").casefold()
    return "; ".join(part for part in pieces(note) if part.replace(" ", "").casefold() != printed)


def _difference_reason(row: FactTableRow, column: FactTableColumn, printed: str | None) -> str:
    """Return why our value differs: the scale's effect, the table's reason, or the conflicts in a dataset's
    spec.

    Conflicts that quote the printed value are preferred; for numbers, all conflicts are used if none quotes
    it.
    """
    said = row.sources[column.key].scaled or row.why.get(column.key)
    if said:
        return said
    naming = [text for text in row.conflicts if re.search(rf"(?<!\d){re.escape(printed or '')}(?!\d)", text)]
    others = row.conflicts if column.kind in ("count", "ratio") else ()
    return " ".join(naming or others) or UNEXPLAINED

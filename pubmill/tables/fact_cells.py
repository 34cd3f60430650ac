"""Build the cells of fact tables from specs, artefacts and published values.

A value that differs from the published one is shown with its documented reason; if there is none, the table
says so.
"""

import re
from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.statistics.verdict_models import Shape
from pubmill.tables.cells import parse
from pubmill.tables.fact_sources import Artefacts, found, machines
from pubmill.tables.fact_table_models import (
    FactCell,
    FactTable,
    FactTableColumn,
    FactTableRecipe,
    FactTableRow,
    pieces,
)
from pubmill.tables.printed_facts import FORMS, is_equal, is_of_kind
from pubmill.tables.published_values import published_lines

UNEXPLAINED = "differs, and neither the specs nor this table say why"


class PublishedFact(Shape):
    """A published fact. `printed` is None if the paper's table leaves the cell empty, as the note
    explains."""

    printed: str | None
    note: str


PublishedFacts = dict[tuple[str, str, str], PublishedFact]
"""(subject by its name in the paper's table, fact, kind) -> published fact."""


def read_facts(path: Path, recipe: FactTableRecipe) -> PublishedFacts:
    """Read `tableNN.published.csv`; errors name file and line.

    As in result tables, a dataset is the file's column; any other subject is its row.
    """
    facts: PublishedFacts = {}
    for where, line in published_lines(path):
        kind, printed, note = line["metric"], line["value"], line["note"]
        if not (note if not printed else is_of_kind(printed, kind)):
            raise PubmillError(
                f"{where}: {printed!r} is not a valid {kind!r}; expected one of the kinds {', '.join(FORMS)} "
                f"and a value of that kind, such as 5203, 1, 0.18 or NER, or no value and an explaining note"
            )
        subject, fact = line["row"], line["column"]
        if recipe.subjects == "datasets":
            subject, fact = fact, subject
        facts[subject, fact, kind] = parse(PublishedFact, {"printed": printed or None, "note": note}, where)
    return facts


def build(recipe: FactTableRecipe, published: PublishedFacts, artefacts: Artefacts) -> FactTable:
    """Build the table: every fact of every subject, with its published value."""
    _check_keys(recipe, published)
    heading = recipe.model_dump(exclude={"lists_members", "versions"})
    cells = {
        row.subject: {
            column.key: _cell(recipe, row, column, artefacts, published) for column in recipe.columns
        }
        for row in recipe.rows
    }
    return FactTable(**heading, cells=cells, machines=machines(artefacts))


def _check_keys(recipe: FactTableRecipe, published: PublishedFacts) -> None:
    """Refuse published values without a cell of their kind, which a misspelt name would silently drop."""
    places = {
        (row.published, column.published, column.kind) for row in recipe.rows for column in recipe.columns
    }
    lost = [" / ".join(place) for place in published if place not in places]
    if lost:
        raise PubmillError(
            f"{recipe.paper}/{recipe.table}: published values without a cell of their kind: "
            f"{', '.join(lost)}; correct the names in {recipe.table}.published.csv or in {recipe.table}.yaml"
        )


def _cell(
    recipe: FactTableRecipe,
    row: FactTableRow,
    column: FactTableColumn,
    artefacts: Artefacts,
    published: PublishedFacts,
) -> FactCell:
    source = row.sources[column.key]
    value, lacking = source.value, source.lacking
    if source.files:
        value, lacking = found(row, column, artefacts)
    fact = published.get((row.published, column.published, column.kind))
    printed = fact.printed if fact else None
    if fact is None and recipe.lists_members and column.kind == "boolean":
        printed = "0"
    equal = None if value is None or printed is None else is_equal(value, printed, column.kind)
    differs = _why_it_differs(row, column, printed) if equal is False else None
    return FactCell(
        kind=column.kind,
        value=value,
        published=printed,
        note=_worth_noting(fact.note, row.label) if fact else "",
        silent=fact is not None and printed is None,
        equal=equal,
        reason=lacking if value is None else differs,
    )


def _worth_noting(note: str, label: str) -> str:
    """Remove the remark on how the subject's name is printed from a note, if it differs from ours only in
    spaces."""
    printed = f"printed as {label}".replace(" ", "").casefold()
    return "; ".join(part for part in pieces(note) if part.replace(" ", "").casefold() != printed)


def _why_it_differs(row: FactTableRow, column: FactTableColumn, printed: str | None) -> str:
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

"""Cells that refer to cells of other tables: values that the paper copied, and differences."""

from collections.abc import Mapping

from pubmill.recipes.tables import Difference, ReferencedCell, TableRecipe
from pubmill.statistics.equivalence import combined
from pubmill.statistics.verdict_models import Verdict
from pubmill.tables.cells import Cell, OtherCell, PublishedValue, Table, make_cell
from pubmill.tables.published_values import half_unit, marked_unless_following
from pubmill.tables.verdicts import Cells, incomparable, uncertainty_of, verdict_by

NO_OTHER = "no difference: the paper prints none"


def with_references(
    recipe: TableRecipe,
    cells: Cells,
    published: Mapping[tuple[str, str], PublishedValue],
    others: Mapping[str, Table],
) -> dict[str, dict[str, Cell]]:
    """Return the cells with the origins of copied ones, and with the differences."""
    return {
        column: {
            **{row: _with_origin(recipe, column, row, cell, others) for row, cell in rows.items()},
            **{
                one.name: _difference(recipe, one, column, rows, published.get((column, one.name)), others)
                for one in recipe.differences
            },
        }
        for column, rows in cells.items()
    }


def _with_origin(recipe: TableRecipe, column: str, row: str, cell: Cell, others: Mapping[str, Table]) -> Cell:
    origin = recipe.copied.get(f"{column}/{row}")
    return cell.model_copy(update={"copied_from": _other_cell(origin, others)}) if origin else cell


def _other_cell(reference: ReferencedCell, others: Mapping[str, Table]) -> OtherCell:
    table = others[reference.table]
    columns = {one.key: one.label for one in table.columns}
    rows = {one.key: one.label for one in (*table.rows, *table.composites)}
    return OtherCell(
        table=reference.table,
        column=columns[reference.column],
        row=rows[reference.row],
        linked=reference.linked,
        cell=table.cells[reference.column][reference.row],
    )


def _difference(
    recipe: TableRecipe,
    difference: Difference,
    column: str,
    cells: Mapping[str, Cell],
    published: PublishedValue | None,
    others: Mapping[str, Table],
) -> Cell:
    """Return a cell minus one of another table, with its verdict."""
    reference = difference.minus.get(column)
    if reference is None:
        return make_cell(published, None, n=0, expected=0, missing=NO_OTHER)
    own, other = cells[difference.of], _other_cell(reference, others)
    if published and (one := own.published) and (minus := other.cell.published):
        slack = half_unit(one.printed) + half_unit(minus.printed)
        published = marked_unless_following(published, one.value - minus.value, slack)
    parts = {_label(recipe, difference.of): own.value, _place(other): other.cell.value}
    lacking = [name for name, value in parts.items() if value is None]
    value = None if own.value is None or other.cell.value is None else own.value - other.cell.value
    missing = f"no difference: no score of {' and '.join(lacking)}" if lacking else None
    n, expected = len(parts) - len(lacking), len(parts)
    made = make_cell(published, value, n=n, expected=expected, missing=missing, minus=other)
    verdict = _verdict(recipe, difference, column, reference, made, cells, others)
    return made.model_copy(update={"verdict": verdict})


def _label(recipe: TableRecipe, row: str) -> str:
    return next(one.label for one in recipe.all_rows if one.key == row)


def _place(other: OtherCell) -> str:
    return f"{other.column} in {other.title} ({other.cell.missing})" if other.cell.missing else other.title


def _verdict(
    recipe: TableRecipe,
    difference: Difference,
    column: str,
    minus: ReferencedCell,
    cell: Cell,
    cells: Mapping[str, Cell],
    others: Mapping[str, Table],
) -> Verdict | None:
    """Return the verdict on a difference, whose two means are of independent runs; None where our value or
    the published one is missing."""
    if cell.difference is None:
        return None
    other = recipe.others[minus.table]
    reason = incomparable(recipe, column, difference.of) or incomparable(other, minus.column, minus.row)
    if reason:
        return Verdict(verdict="not comparable", why=reason)
    own = uncertainty_of(recipe, difference.of, cells)
    parent = uncertainty_of(other, minus.row, others[minus.table].cells[minus.column])
    of = combined([(1.0, own), (1.0, parent)]) if own and parent else None
    return verdict_by(recipe, difference.name, cell.difference, of)

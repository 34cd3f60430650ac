"""The part of a result table that others refer to, and the reasons shown below a table: of single cells and
of settings, and notes on models."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pubmill.recipes.tables import Reason, ReferencedCell, TableRecipe
from pubmill.specs import Specs, TableSpec
from pubmill.specs.cell_sources import CellSource, cell_sources
from pubmill.specs.table_specs import ColumnSpec


def part_of(recipe: TableRecipe, cells: Sequence[ReferencedCell]) -> TableRecipe:
    """Return the part of a table's recipe that these cells need."""
    columns, named = {cell.column for cell in cells}, {cell.row for cell in cells}
    composites = tuple(one for one in recipe.composites if one.name in named)
    rows = named | {row for one in composites for group in one.groups.values() for row in group}
    rule = recipe.equivalence
    return replace(
        recipe,
        notes=(),
        reasons=(),
        left_out={},
        rows=tuple(one for one in recipe.rows if one.key in rows),
        columns=tuple(one for one in recipe.columns if one.key in columns),
        composites=composites,
        equivalence=replace(
            rule,
            margins={key: margin for key, margin in rule.margins.items() if key in rows},
            runs={key: runs for key, runs in rule.runs.items() if key in rows},
        ),
        records={
            column: {row: paths for row, paths in of_column.items() if row in rows}
            for column, of_column in recipe.records.items()
            if column in columns
        },
        found=tuple(one for one in recipe.found if _is_in(one, columns, rows)),
        missing={key: why for key, why in recipe.missing.items() if _is_in(key, columns, rows)},
    )


def _is_in(key: str, columns: set[str], rows: set[str]) -> bool:
    """Return whether `column`, `row` or `column/row` is in the part."""
    column, _, row = key.partition("/")
    return (column in columns and row in rows) if row else key in columns | rows


def cell_reasons(table: TableSpec, columns: Sequence[ColumnSpec], specs: Specs) -> tuple[Reason, ...]:
    """Return the reasons of a table, each once with the cells, columns and rows that it is about."""
    reasons: dict[str, list[str]] = {}
    for row in table.rows:
        if row.not_comparable:
            reasons[f"not comparable: {row.not_comparable}"] = [f"/{row.name}"]
    for cell in cell_sources(table, columns, specs):
        for text in _texts(table, cell, specs):
            reasons.setdefault(text, []).append(f"{cell.column.name}/{cell.row.name}")
    sizes = {column.name: sum(not table.copied_from(column, row) for row in table.rows) for column in columns}
    return tuple(Reason(text=text, cells=_merged(places, sizes)) for text, places in reasons.items())


def _merged(places: Sequence[str], sizes: dict[str, int]) -> tuple[str, ...]:
    """Return places (`column/row`), with `column/` for a column all of whose cells with runs are listed."""
    columns = [place.partition("/")[0] for place in places]
    whole = {column for column in columns if column and columns.count(column) == sizes[column]}
    merged = (
        f"{column}/" if column in whole else place for column, place in zip(columns, places, strict=True)
    )
    return tuple(dict.fromkeys(merged))


def _texts(table: TableSpec, cell: CellSource, specs: Specs) -> Iterator[str]:
    """Yield why a cell has other runs than its column and row, the notes on its model, and the sources of its
    setting's values."""
    own = cell.column.cells.get(cell.row.name)
    dataset = table.dataset_of(cell.column, cell.row)
    others = [
        *([f"model {cell.model}"] if cell.model != cell.column.model else []),
        *([f"dataset {dataset}"] if dataset != cell.row.dataset else []),
        *([f"protocol {own.protocol}"] if own and own.protocol else []),
        *([f"setting {' or '.join(own.setting)}"] if own and own.setting else []),
    ]
    if others:
        yield f"ours has {', '.join(others)}" + (f": {own.why}" if own and own.why else "")
    if own and own.not_comparable:
        yield f"not comparable: {own.not_comparable}"
    if model := specs.models.get(cell.model):
        yield from (f"model: {note}" for note in model.notes)
    decided: dict[str, tuple[str | None, str]] = {}
    for override in cell.overrides.values():
        why = override.why if override.settings else None
        for key, value in {**override.values, **(override.grid or {})}.items():
            tried = value if isinstance(value, tuple) else (value,)
            shown = " or ".join("none" if one in (None, (None,)) else str(one) for one in tried)
            decided[key] = (why, f"{key} {shown}")
    for why in dict.fromkeys(source for source, _ in decided.values() if source):
        values = ", ".join(text for source, text in decided.values() if source == why)
        yield f"setting {cell.setting}, {values}: {why}"

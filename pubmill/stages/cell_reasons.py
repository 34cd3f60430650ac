"""Reasons shown below a table of results: of single cells and of settings, and notes on models."""

from collections.abc import Iterator, Sequence

from pubmill.recipes.tables import Reason
from pubmill.specs import Specs, TableSpec
from pubmill.specs.cell_sources import CellSource, cell_sources
from pubmill.specs.table_specs import ColumnSpec


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
    """Return places with `column/` instead of all cells with runs of a column."""
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
    yield from _setting_texts(cell)


def _setting_texts(cell: CellSource) -> Iterator[str]:
    """Yield the values that overrides for the cell's setting decide, with their sources."""
    decided: dict[str, tuple[str | None, str]] = {}
    for override in cell.overrides.values():
        why = override.why if override.settings else None
        for key, value in {**override.values, **(override.grid or {})}.items():
            decided[key] = (why, f"{key} {_value_text(value)}")
    for why in dict.fromkeys(source for source, _ in decided.values() if source):
        values = ", ".join(text for source, text in decided.values() if source == why)
        yield f"setting {cell.setting}, {values}: {why}"


def _value_text(value: object) -> str:
    """Return a value, or the values that are tried, as text."""
    tried = value if isinstance(value, tuple) else (value,)
    return " or ".join("none" if one in (None, (None,)) else str(one) for one in tried)

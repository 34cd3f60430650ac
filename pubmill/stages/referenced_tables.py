"""Cells of result tables that refer to other tables."""

from collections.abc import Sequence
from dataclasses import replace

from pubmill.recipes.tables import Composite, Difference, ReferencedCell, TableRecipe, project
from pubmill.specs.table_checks import copied_cell, subtracted_cell
from pubmill.specs.table_specs import CellReference
from pubmill.stages.stage import GraphPart


class TableReferences(GraphPart):
    """Values that papers copied from other tables, and differences to cells of other tables."""

    def copied(self, table: str) -> dict[str, ReferencedCell]:
        """Return the cells that cells of a table were copied from, as far as specs describe them:
        `column/row` -> cell."""
        spec, specs = self._specs.tables[table], self._specs
        return {
            f"{column.name}/{row.name}": self._cell(origin)
            for column in spec.columns
            for row in spec.rows
            if (origin := copied_cell(spec, column, row, specs.tables, specs.datasets))
        }

    def differences(self, table: str) -> tuple[Difference, ...]:
        """Return the differences of a table."""
        tables = self._specs.tables
        return tuple(
            project(
                Difference,
                one,
                of=one.row,
                minus={name: self._cell(subtracted_cell(one, name, tables)) for name in one.columns},
            )
            for one in tables[table].differences
        )

    def cells(self, table: str) -> dict[str, list[ReferencedCell]]:
        """Return the cells of other tables that a table refers to, by table."""
        subtracted = [cell for one in self.differences(table) for cell in one.minus.values()]
        by_table: dict[str, list[ReferencedCell]] = {}
        for cell in [*self.copied(table).values(), *subtracted]:
            by_table.setdefault(cell.table, []).append(cell)
        return dict(sorted(by_table.items()))

    def _cell(self, cell: CellReference) -> ReferencedCell:
        assert cell.column and cell.row
        linked = cell.table in self._study.tables
        return ReferencedCell(table=cell.table, column=cell.column, row=cell.row, linked=linked)


def part_of(recipe: TableRecipe, cells: Sequence[ReferencedCell]) -> TableRecipe:
    """Return the part of a table's recipe that these cells need."""
    columns, named = {cell.column for cell in cells}, {cell.row for cell in cells}
    composites = tuple(one for one in recipe.composites if one.name in named)
    rows = named | {row for one in composites for row in _members(one)}
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


def _members(composite: Composite) -> tuple[str, ...]:
    return tuple(row for group in composite.groups.values() for row in group)


def _is_in(key: str, columns: set[str], rows: set[str]) -> bool:
    """Return whether `column`, `row` or `column/row` is in the part."""
    column, _, row = key.partition("/")
    return (column in columns and row in rows) if row else key in columns | rows

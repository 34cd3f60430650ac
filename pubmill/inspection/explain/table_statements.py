"""Statements on the methods behind a table's cells, sorted by weight: differences from the paper first."""

import re
from collections.abc import Collection, Iterable, Set
from dataclasses import dataclass
from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.messages.wording import unknown
from pubmill.specs import FactTableSpec, Specs, load
from pubmill.specs.cell_sources import AffectedCells, CellName
from pubmill.specs.fidelity import FidelityRow, rows
from pubmill.specs.model_specs import RecipeWeights
from pubmill.specs.spec_types import Standing
from pubmill.stages.table_jobs import cell_reasons

ORDER: tuple[Standing, ...] = ("differs", "ours", "as the program", "as printed")
"""Standings, those that matter most first."""


@dataclass(frozen=True)
class WeighedStatement:
    """A statement, the number of cells that it is about (0 in a table of facts), and of those that its effect
    is known for."""

    row: FidelityRow
    cells: int
    moved: int = 0

    @property
    def effect(self) -> str:
        """How far it moves scores, in words."""
        effect = self.row.statement.effect
        return f"{effect.points:g} points ({effect.source})" if effect else "not measured"

    @property
    def why(self) -> str:
        """The first sentences of the reason for what is done, as many as fit into 160 characters."""
        said = self.row.statement
        first, *others = re.split(r"(?<=[.;]) (?=[A-Z\"`])", said.differs or said.ours or "")
        for one in others:
            if len(first) + len(one) > 160:
                break
            first += f" {one}"
        return first


@dataclass(frozen=True)
class TableStatements:
    """The statements behind a table, and the reasons and conflicts that it shows."""

    table: str
    title: str
    statements: tuple[WeighedStatement, ...]
    reasons: tuple[str, ...]
    conflicts: tuple[str, ...]


def by_weight(statements: Iterable[WeighedStatement]) -> list[WeighedStatement]:
    """Sort statements: first those with the largest known effect on all cells together, then, by standing and
    number of cells, those without a known effect; last those known to have none."""

    def weight(one: WeighedStatement) -> tuple[bool, float, int, int, str]:
        effect = one.row.statement.effect
        points = effect.points if effect else 0.0
        none = effect is not None and not points
        return none, -one.moved * points, ORDER.index(one.row.statement.standing), -one.cells, one.row.spec

    return sorted(statements, key=weight)


def table_statements(folder: Path, table: str) -> TableStatements:
    """Return the statements of the specs in a folder that are about a table, at full scale."""
    specs = load(folder, "full")
    if table in specs.fact_tables:
        facts = specs.fact_tables[table]
        found = fact_statements(folder, specs, facts, {row.subject for row in facts.rows})
        return TableStatements(table, facts.title, found, (), ())
    if table not in specs.tables:
        raise PubmillError(unknown("table", table, [*specs.tables, *specs.fact_tables]))
    spec = specs.tables[table]
    affected = AffectedCells(specs, {table: spec.columns})
    data = {cell.data.name: cell.data for cell in affected.cells.values() if cell.data}
    conflicts = [f"{one.label or one.name}: {fault}" for one in data.values() for fault in one.conflicts]
    reasons = tuple(reason.text for reason in cell_reasons(spec, spec.columns, specs))
    found = weighed(folder, affected, affected.cells.keys())
    return TableStatements(table, spec.title, found, reasons, tuple(conflicts))


def weighed(folder: Path, affected: AffectedCells, cells: Set[CellName]) -> tuple[WeighedStatement, ...]:
    """Return the statements that are about some of the cells, those that matter most first."""
    found = []
    for row in rows(folder):
        if about := len(affected.of(row) & cells):
            found.append(WeighedStatement(row, about, len(affected.moved(row) & cells)))
    return tuple(by_weight(found))


def fact_statements(
    folder: Path, specs: Specs, table: FactTableSpec, subjects: Collection[str]
) -> tuple[WeighedStatement, ...]:
    """Return the statements on subjects of a table of facts, on the recipes of its models, and on itself."""
    weights = [specs.models[name].weights for name in subjects if name in specs.models]
    recipes = {one.recipe for one in weights if isinstance(one, RecipeWeights)}
    names = {f"{table.subjects}/{one}" for one in subjects} | {f"pretraining/{one}" for one in recipes}
    names.add(f"tables/{table.paper}/{table.name}")
    about = (row for row in rows(folder) if not names.isdisjoint({row.spec, *row.heirs}))
    return tuple(by_weight(WeighedStatement(row, 0) for row in about))

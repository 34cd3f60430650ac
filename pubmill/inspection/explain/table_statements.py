"""Statements on the methods behind a table's cells, sorted by weight: differences from the paper first."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pubmill.errors import PubmillError
from pubmill.messages.wording import unknown
from pubmill.specs import FactTableSpec, Specs, load
from pubmill.specs.cell_sources import AffectedCells
from pubmill.specs.fidelity import FidelityRow, rows
from pubmill.specs.model_specs import RecipeWeights
from pubmill.specs.spec_types import Standing
from pubmill.stages.table_cells import cell_reasons

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


@dataclass(frozen=True)
class TableStatements:
    """The statements behind a table, and the reasons and conflicts that it shows."""

    table: str
    title: str
    statements: tuple[WeighedStatement, ...]
    reasons: tuple[str, ...]
    conflicts: tuple[str, ...]


def by_weight(statements: Iterable[WeighedStatement]) -> list[WeighedStatement]:
    """Sort statements by standing. Of the same standing, those with the largest known effect on all cells
    together are first, then those without a known effect by cells; those known to have none are last."""

    def weight(one: WeighedStatement) -> tuple[int, bool, float, int, str]:
        effect = one.row.statement.effect
        points = effect.points if effect else 0.0
        none = effect is not None and not points
        return ORDER.index(one.row.statement.standing), none, -one.moved * points, -one.cells, one.row.spec

    return sorted(statements, key=weight)


def table_statements(folder: Path, table: str) -> TableStatements:
    """Return the statements of the specs in a folder that are about a table, at full scale."""
    specs = load(folder, "full")
    if table in specs.fact_tables:
        facts = specs.fact_tables[table]
        names = _fact_specs(facts, specs) | {f"tables/{table}"}
        weighed = [WeighedStatement(row, 0) for row in rows(folder) if row.spec in names]
        return TableStatements(table, facts.title, tuple(by_weight(weighed)), (), ())
    if table not in specs.tables:
        raise PubmillError(unknown("table", table, [*specs.tables, *specs.fact_tables]))
    affected, spec = AffectedCells(specs), specs.tables[table]
    counted = [(row, sum(name[0] == table for name in affected.of(row))) for row in rows(folder)]
    cells = (cell for name, cell in affected.cells.items() if name[0] == table)
    datasets = {cell.data.name: cell.data for cell in cells if cell.data}
    weighed = by_weight(WeighedStatement(row, cells) for row, cells in counted if cells)
    reasons = tuple(reason.text for reason in cell_reasons(spec, spec.columns, specs))
    conflicts = [f"{one.label or one.name}: {fault}" for one in datasets.values() for fault in one.conflicts]
    return TableStatements(table, spec.title, tuple(weighed), reasons, tuple(conflicts))


def _fact_specs(table: FactTableSpec, specs: Specs) -> set[str]:
    """Return the specs of the subjects of a table of facts, and the recipes of its models."""
    subjects = {row.subject for row in table.rows}
    weights = [specs.models[name].weights for name in subjects if name in specs.models]
    recipes = {one.recipe for one in weights if isinstance(one, RecipeWeights)}
    return {f"{table.subjects}/{one}" for one in subjects} | {f"pretraining/{one}" for one in recipes}

"""The page of contradictions between the papers, which is the same in every study."""

from typing import Any

from pubmill.graph.stage_versions import VERSIONS
from pubmill.graph.tables import Tables
from pubmill.specs import Specs

COLUMN = ("key", "label", "model", "published")
ROW = ("key", "dataset", "label", "metric", "published", "printed")
"""Fields of columns and rows in the recipe, which is a command-line argument and must stay short."""


def _fields(values: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: values[name] for name in names}


class ContradictionJobs:
    """Recipe of the page of contradictions."""

    def __init__(self, specs: Specs, tables: Tables) -> None:
        self._specs = specs
        self._tables = tables

    def recipe(self) -> dict[str, Any]:
        """Return the ContradictionsRecipe."""
        standard = [name for name, spec in self._specs.tables.items() if spec.setting == "standard"]
        return {
            "tables": [self._published_table(name) for name in standard],
            "models": {name: spec.label or name for name, spec in self._specs.models.items()},
            "versions": {"contradictions": VERSIONS["contradictions"]},
        }

    def _published_table(self, name: str) -> dict[str, Any]:
        spec = self._specs.tables[name]
        own = [column for column in spec.columns if column.setting is None]
        return {
            "name": name,
            "paper": spec.paper,
            "number": int(spec.name.removeprefix("table")),
            "file": f"tables/{name}.published.csv",
            "protocol": spec.protocol,
            "aggregate": self._specs.protocols[spec.protocol].final.aggregate,
            "metric": spec.metric,
            "columns": [_fields(self._tables.column(column), COLUMN) for column in own],
            "rows": [_fields(self._tables.row(spec, row), ROW) for row in spec.rows],
            "composites": [composite.model_dump() for composite in spec.composites],
            "left_out": spec.left_out,
            "elsewhere": spec.elsewhere,
        }

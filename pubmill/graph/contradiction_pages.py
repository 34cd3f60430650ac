"""The page of contradictions between the papers."""

from typing import Any

from pubmill.graph.dataset_pages import PAGE_FORMS
from pubmill.graph.fact_tables import FactTableTargets
from pubmill.graph.stage_versions import VERSIONS

COLUMN = ("key", "label", "model", "published")
ROW = ("key", "dataset", "label", "metric", "published", "printed")
"""Fields of columns and rows in the recipe, which is a command-line argument and must stay short."""


def _kept(facts: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: facts[name] for name in names}


class ContradictionTargets(FactTableTargets):
    """Recipe and files of the page of contradictions."""

    def contradictions(self) -> list[str]:
        """Return the files of the page, which covers all tables and is the same in every study."""
        return [self.paths.contradictions(form) for form in PAGE_FORMS]

    def contradictions_recipe(self) -> dict[str, Any]:
        standard = [name for name, spec in self.specs.tables.items() if spec.setting == "standard"]
        return {
            "tables": [self._published_table(name) for name in standard],
            "models": {name: spec.label or name for name, spec in self.specs.models.items()},
            "versions": {"contradictions": VERSIONS["contradictions"]},
        }

    def _published_table(self, name: str) -> dict[str, Any]:
        spec = self.specs.tables[name]
        own = [column for column in spec.columns if column.setting is None]
        return {
            "name": name,
            "paper": spec.paper,
            "number": int(spec.name.removeprefix("table")),
            "file": f"tables/{name}.published.csv",
            "protocol": spec.protocol,
            "aggregate": self.specs.protocols[spec.protocol].final.aggregate,
            "metric": spec.metric,
            "columns": [_kept(self._column(column), COLUMN) for column in own],
            "rows": [_kept(self._row(spec, row), ROW) for row in spec.rows],
            "composites": [composite.model_dump() for composite in spec.composites],
            "left_out": spec.left_out,
            "elsewhere": spec.elsewhere,
        }

"""Tables of facts."""

from typing import Any

from pubmill.graph.dataset_facts import Source
from pubmill.graph.model_facts import ModelFactTargets
from pubmill.graph.stage_versions import VERSIONS
from pubmill.specs import FactTableSpec
from pubmill.specs.fact_tables import FactRow


class FactTableTargets(ModelFactTargets):
    """Recipes and inputs of tables of facts."""

    def fact_sources(self, table: str) -> dict[str, dict[str, Source]]:
        """Where each cell of a table is from: subject -> column -> source."""
        spec = self.specs.fact_tables[table]
        find = {
            "datasets": self.dataset_source,
            "models": self.model_source,
            "tasks": self.task_source,
            "protocols": self.protocol_source,
        }[spec.subjects]
        return {
            row.subject: {column.key: find(spec, row, column) for column in spec.columns} for row in spec.rows
        }

    def fact_files(self, table: str) -> list[str]:
        """The artefacts that a table needs."""
        sources = [source for found in self.fact_sources(table).values() for source in found.values()]
        files = dict.fromkeys(file for source in sources for file in source.get("files", ()))
        return [self.paths.at(file) for file in files]

    def fact_table_recipe(self, table: str) -> dict[str, Any]:
        """FactTableRecipe of a table."""
        spec, sources = self.specs.fact_tables[table], self.fact_sources(table)
        of_datasets = spec.subjects == "datasets"
        return {
            **self.heading(spec),
            "comparable": not any(
                source.get("scaled") for found in sources.values() for source in found.values()
            ),
            "subjects": spec.subjects,
            "down": spec.down,
            "columns": [
                {
                    "key": column.key,
                    "label": column.label,
                    "value": column.value,
                    "kind": spec.kind_of(column),
                    "published": column.published or column.key,
                }
                for column in spec.columns
            ],
            "rows": [self._fact_row(spec, row, sources[row.subject], of_datasets) for row in spec.rows],
            "lists_members": spec.lists_members,
            "versions": {"fact_table": VERSIONS["fact_table"]},
        }

    def _fact_row(
        self, table: FactTableSpec, row: FactRow, sources: dict[str, Source], of_datasets: bool
    ) -> dict[str, Any]:
        data = self.specs.datasets.get(row.subject) if of_datasets else None
        return {
            "subject": row.subject,
            "label": row.label,
            "measure": row.measure,
            "published": row.printed,
            "why": {column.key: column.why for column in table.columns if column.why} | row.why,
            "sources": sources,
            "conflicts": list(data.conflicts) if data else [],
        }

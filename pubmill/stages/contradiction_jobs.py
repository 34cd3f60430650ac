"""The page of contradictions between the papers, which is the same in every study."""

from pubmill.recipes.contradictions import ContradictionsRecipe, PublishedTable
from pubmill.recipes.tables import PublishedColumn, PublishedRow, project
from pubmill.stages.stage import TEMPLATES, Stage


class ContradictionsStage(Stage):
    """Recipe of the page of contradictions."""

    name, group, label = "contradictions", "report", "Writing the page of contradictions"
    version = 5
    read_by_name = (TEMPLATES,)

    def recipe(self) -> ContradictionsRecipe:
        """Return the recipe of the page."""
        standard = [name for name, spec in self._specs.tables.items() if spec.setting == "standard"]
        tables = tuple(self._published_table(name) for name in standard)
        named = {column.model for table in tables for column in table.columns}
        models = {name: spec for name, spec in self._specs.models.items() if name in named}
        return ContradictionsRecipe(
            tables=tables,
            models={name: spec.label or name for name, spec in models.items()},
            versions={"contradictions": self.version},
        )

    def _published_table(self, name: str) -> PublishedTable:
        spec = self._specs.tables[name]
        own = [
            self.graph.tables.column(one)
            for one in spec.columns
            if one.setting in (None, ("standard",)) and not any(cell.setting for cell in one.cells.values())
        ]
        rows = [self.graph.tables.row(spec, row) for row in spec.rows]
        return project(
            PublishedTable,
            spec,
            name=name,
            number=int(spec.name.removeprefix("table")),
            file=f"tables/{name}.published.csv",
            aggregate=self._specs.protocols[spec.protocol].final.aggregate,
            columns=tuple(project(PublishedColumn, column) for column in own),
            rows=tuple(project(PublishedRow, row) for row in rows),
        )

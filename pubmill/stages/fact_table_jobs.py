"""Tables of facts, and their facts of datasets."""

from pubmill.recipes.fact_tables import FactSource, FactTableColumn, FactTableRecipe, FactTableRow
from pubmill.recipes.tables import project
from pubmill.specs import FactTableSpec
from pubmill.specs.fact_table_specs import FactColumn, FactRow
from pubmill.stages.stage import TEMPLATES, GraphPart, Stage
from pubmill.storage.result_paths import BELOW, manifest_of


class FactTables(GraphPart):
    """Recipes and inputs of tables of facts."""

    def sources(self, table: str) -> dict[str, dict[str, FactSource]]:
        """Return the source of each cell of a table: subject -> column -> source."""
        spec = self._specs.fact_tables[table]
        find = {
            "datasets": self.graph.dataset_facts.source,
            "models": self.graph.model_facts.of_model,
            "tasks": self.graph.model_facts.of_task,
            "protocols": self.graph.model_facts.of_protocol,
        }[spec.subjects]
        return {
            row.subject: {column.key: find(spec, row, column) for column in spec.columns} for row in spec.rows
        }

    def files(self, table: str) -> list[str]:
        """Return the artefacts that a table needs."""
        sources = [source for of_row in self.sources(table).values() for source in of_row.values()]
        files = dict.fromkeys(manifest_of(file) for source in sources for file in source.paths)
        return [self._paths.at(file) for file in files]

    def recipe(self, table: str) -> FactTableRecipe:
        """Return the recipe of a table."""
        spec, sources = self._specs.fact_tables[table], self.sources(table)
        known = self._specs.datasets if spec.subjects == "datasets" else {}
        return project(
            FactTableRecipe,
            spec,
            table=spec.name,
            scale=self._study.scale,
            scale_title=self.graph.datasets.scale_title(spec.datasets),
            comparable=not any(source.scaled for of_row in sources.values() for source in of_row.values()),
            columns=tuple(
                project(
                    FactTableColumn,
                    column,
                    kind=spec.kind_of(column),
                    published=column.published or column.key,
                )
                for column in spec.columns
            ),
            rows=tuple(
                project(
                    FactTableRow,
                    row,
                    published=row.printed,
                    why={column.key: column.why for column in spec.columns if column.why} | row.why,
                    sources=sources[row.subject],
                    conflicts=known[row.subject].conflicts if row.subject in known else (),
                )
                for row in spec.rows
            ),
            versions={"fact_table": FactTableStage.version},
        )


class FactTableStage(Stage):
    """A table of facts."""

    name, group, label = "fact_table", "tables", "Building {wildcards.fact_table}"
    version = 4
    read_by_name = (TEMPLATES,)


class DatasetFacts(GraphPart):
    """Sources of the facts of datasets: cards and specs."""

    def source(self, table: FactTableSpec, row: FactRow, column: FactColumn) -> FactSource:
        """Return the source of a fact of a dataset: its spec, or its card."""
        if row.subject not in self._specs.datasets:
            return FactSource(lacking=row.missing)
        if column.fact in ("count", "label_bias"):
            lacking = self.graph.availability.dataset_of_study(row.subject)
            made_up = f"not the published files: {self._specs.scale.title}"
            card = BELOW.card(row.subject)
            return FactSource(
                lacking=lacking,
                files=() if lacking else (card,),
                scaled=made_up if self.graph.datasets.is_made_up(row.subject) and not lacking else None,
            )
        field, _, members = column.value.partition("=")
        terms = [str(getattr(self._specs.datasets[row.subject], field))]
        if field == "suites":  # of all its variants
            forms = [self._specs.datasets[form] for form in self.graph.datasets.variants(row.subject)]
            terms = sorted({suite for form in forms for suite in form.suites})
        if members:
            return FactSource(value=not set(members.split("|")).isdisjoint(terms))
        return FactSource(value={**table.words, **row.words}.get(terms[0], terms[0]))

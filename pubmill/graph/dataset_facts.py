"""Headings of tables, and the facts of datasets that tables show."""

from pathlib import Path
from typing import Any

from pubmill.graph.dataset_pages import PageTargets
from pubmill.specs import FactTableSpec, TableSpec
from pubmill.specs.fact_tables import FactColumn, FactRow
from pubmill.storage.result_paths import BELOW

TABLE_FORMS = ("json", "csv", "md", "tex", "html")
NOT_WANTED = "not part of this study"

Source = dict[str, Any]
"""Source of a cell (pubmill.tables.fact_table_models.Source): its `value`, the `files` that have it, or what
is `lacking`; `scaled` says why it may differ from the published one at this scale."""


class DatasetFactTargets(PageTargets):
    """Sources of the facts of datasets: cards and specs."""

    TABLE_FORMS = TABLE_FORMS

    def fact_tables(self) -> list[str]:
        """The study's tables of facts; the others are of results."""
        return [table for table in self.study.tables if table in self.specs.fact_tables]

    def heading(self, spec: TableSpec | FactTableSpec) -> dict[str, Any]:
        """Return the heading of a table of either kind."""
        return {
            "paper": spec.paper,
            "table": spec.name,
            "title": spec.title,
            "caption": spec.caption,
            "citation": spec.citation,
            "notes": spec.notes,
            "scale": self.study.scale,
            "scale_title": self.specs.scale.title,
        }

    def published(self, table: str, specs: Path) -> str:
        """The published values of a table. Relative to the working folder where that is the checkout:
        a checkout that moves with its results would else look changed."""
        path = specs.resolve() / "tables" / f"{table}.published.csv"
        return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)

    def table_files(self, table: str) -> list[str]:
        return [self.paths.table(table, form) for form in TABLE_FORMS]

    def lacks_here(self, dataset: str) -> str | None:
        """Return why an existing dataset is not converted in this study; None if it is."""
        return self.lacks(dataset) if self.wants(dataset) else NOT_WANTED

    def shown_datasets(self, table: str) -> list[str]:
        """The datasets of a table of facts that can be converted in this study."""
        named = dict.fromkeys(self.specs.fact_tables[table].datasets)
        return [name for name in named if name in self.specs.datasets and self.lacks_here(name) is None]

    def dataset_source(self, table: FactTableSpec, row: FactRow, column: FactColumn) -> Source:
        """Where a fact of a dataset is from: its spec, or its card."""
        if row.subject not in self.specs.datasets:
            return {"lacking": row.missing}
        if column.fact in ("count", "label_bias"):
            lacking = self.lacks_here(row.subject)
            made_up = f"not the published files: {self.specs.scale.title}"
            card = BELOW.card(row.subject)
            return {
                "lacking": lacking,
                "files": [] if lacking else [card],
                "scaled": made_up if self.is_made_up(row.subject) and not lacking else None,
            }
        field, _, members = column.value.partition("=")
        terms = self._terms(row.subject, field)
        if members:
            return {"value": not set(members.split("|")).isdisjoint(terms)}
        return {"value": {**table.words, **row.words}.get(terms[0], terms[0])}

    def _terms(self, dataset: str, field: str) -> list[str]:
        """What a dataset's spec says; the suites are those of any of its variants."""
        if field == "suites":
            return sorted(
                {suite for form in self.variants(dataset) for suite in self.specs.datasets[form].suites}
            )
        return [str(getattr(self.specs.datasets[dataset], field))]

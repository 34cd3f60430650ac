"""Facts of datasets that tables show."""

from pubmill.recipes.fact_tables import FactSource
from pubmill.specs import FactTableSpec
from pubmill.specs.fact_table_specs import FactColumn, FactRow
from pubmill.stages.stage import GraphPart
from pubmill.storage.result_paths import BELOW


class DatasetFacts(GraphPart):
    """Sources of the facts of datasets: cards and specs."""

    def source(self, table: FactTableSpec, row: FactRow, column: FactColumn) -> FactSource:
        """Return the source of a fact of a dataset: its spec, or its card."""
        if row.subject not in self._specs.datasets:
            return FactSource(lacking=row.missing)
        if column.fact in ("count", "label_bias"):
            lacking = self.graph.table_datasets.obstacle(row.subject)
            made_up = f"not the published files: {self._specs.scale.title}"
            card = BELOW.card(row.subject)
            return FactSource(
                lacking=lacking,
                files=() if lacking else (card,),
                scaled=made_up if self.graph.datasets.is_made_up(row.subject) and not lacking else None,
            )
        field, _, members = column.value.partition("=")
        terms = self._field_values(row.subject, field)
        if members:
            return FactSource(value=not set(members.split("|")).isdisjoint(terms))
        return FactSource(value={**table.words, **row.words}.get(terms[0], terms[0]))

    def _field_values(self, dataset: str, field: str) -> list[str]:
        """Return the values of a field of a dataset's spec; `suites` are those of all its variants."""
        if field == "suites":
            return sorted(
                {
                    suite
                    for form in self.graph.datasets.variants(dataset)
                    for suite in self._specs.datasets[form].suites
                }
            )
        return [str(getattr(self._specs.datasets[dataset], field))]

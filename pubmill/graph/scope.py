"""The scope of a study."""

from pubmill.graph.model_jobs import Models
from pubmill.graph.requests import Requests
from pubmill.graph.table_datasets import TableDatasets
from pubmill.graph.table_jobs import Tables
from pubmill.graph.table_models import TableModels
from pubmill.specs import Specs


class Scope:
    """The models, pretrainings and datasets behind a study's tables."""

    def __init__(
        self,
        specs: Specs,
        requests: Requests,
        models: Models,
        tables: Tables,
        table_models: TableModels,
        table_datasets: TableDatasets,
    ) -> None:
        self._specs = specs
        self._requests = requests
        self._models = models
        self._tables = tables
        self._table_models = table_models
        self._table_datasets = table_datasets

    def models(self) -> list[str]:
        """Return the models that have runs in some table."""
        used = {
            self._specs.tables[table].model_of(column, row)
            for table in self._requests.result_tables()
            for column, row, _ in self._tables.cells_with_runs(table)
        }
        return [model for model in self._table_models.wanted() if model in used]

    def datasets(self) -> list[str]:
        """Return the datasets of all tables of the study that are converted, without repetition."""
        tables = [self._specs.tables[table] for table in self._requests.result_tables()]
        rows = [(table, dataset) for table in tables for dataset in table.datasets()]
        of = self._table_datasets
        used = [name for table, row in rows if of.is_scored(table, row) for name in of.behind(table, row)]
        shown = [name for table in self._requests.fact_tables() for name in of.of_fact_table(table)]
        return list(dict.fromkeys(used + shown))

    def last_steps(self) -> dict[str, int]:
        """Return the recipes that pretrain the study's models, and those run before these, with the last step
        of each that is needed; sorted by name."""
        return self._models.last_steps(self.models())

    def pretrainings(self) -> list[str]:
        """Return the names of these recipes."""
        return list(self.last_steps())

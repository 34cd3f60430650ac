"""The scope of a study."""

from pubmill.stages.stage import GraphPart


class Scope(GraphPart):
    """The models, pretrainings and datasets behind a study's tables."""

    def models(self) -> list[str]:
        """Return the models that have runs in some table."""
        used = {
            self._specs.tables[table].model_of(column, row)
            for table in self.graph.requests.result_tables()
            for column, row, _ in self.graph.tables.cells_with_runs(table)
        }
        return [model for model in self.graph.table_models.wanted() if model in used]

    def datasets(self) -> list[str]:
        """Return the datasets of all tables of the study that are converted, without repetition."""
        tables = [self._specs.tables[table] for table in self.graph.requests.result_tables()]
        rows = [(table, dataset) for table in tables for dataset in table.datasets()]
        of = self.graph.table_datasets
        used = [name for table, row in rows if of.is_scored(table, row) for name in of.behind(table, row)]
        shown = [name for table in self.graph.requests.fact_tables() for name in of.of_fact_table(table)]
        return list(dict.fromkeys(used + shown))

    def last_steps(self) -> dict[str, int]:
        """Return the recipes that pretrain the study's models, and those run before these, with the last step
        of each that is needed; sorted by name."""
        return self.graph.models.last_steps(self.models())

    def pretrainings(self) -> list[str]:
        """Return the names of these recipes."""
        return list(self.last_steps())

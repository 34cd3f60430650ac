"""The tables, models and datasets that a study requests, and those behind its tables."""

from typing import TypeGuard

from pubmill.stages.all_stages import stages
from pubmill.stages.stage import GraphPart
from pubmill.storage.result_paths import BELOW


class Requests(GraphPart):
    """Tables of a study, and the models and datasets that it limits them to."""

    def result_tables(self) -> list[str]:
        """Return the study's tables of results; the others are of facts."""
        return [table for table in self._study.tables if table in self._specs.tables]

    def fact_tables(self) -> list[str]:
        """Return the study's tables of facts; the others are of results."""
        return [table for table in self._study.tables if table in self._specs.fact_tables]

    def has_audit(self) -> bool:
        """Return whether the study audits published values: with tables of results, at a scale with the test
        splits and runs of the papers, and if the extra is there."""
        return "audit" in stages() and self._specs.scale.comparable and bool(self.result_tables())

    def verdicts(self) -> list[str]:
        """Return the file with the verdicts on published values, if the study audits them."""
        return [self._paths.audit("json")] if self.has_audit() else []

    def split_tables(self) -> list[str]:
        """Return the tables whose scores the study splits by what items share with training."""
        return self.result_tables() if self._study.overlap and "overlap" in stages() else []

    def has_floors(self) -> bool:
        """Return whether tables show scores that need no learning."""
        return self._study.floors and "floors" in stages()

    def drifts(self) -> list[str]:
        """Return the files with losses by date, if the study shows them: of the last checkpoint of each
        pretraining that holds documents out."""
        if not self._study.drift or "drift" not in stages():
            return []
        last, specs = self.graph.scope.last_steps(), self._specs.pretraining
        return [BELOW.drift(recipe, step) for recipe, step in last.items() if specs[recipe].held_out]

    def has_model(self, model: str | None) -> TypeGuard[str]:
        """Return whether the model has a spec and the study's `models:` has it, or there is none."""
        return model in self._specs.models and (self._study.models is None or model in self._study.models)

    def has_dataset(self, dataset: str) -> bool:
        """Return whether the study's `datasets:` has the dataset, or there is none."""
        return self._study.datasets is None or dataset in self._study.datasets

    def models_to_add(self) -> dict[str, list[str]]:
        """Return models whose spec names tables of the study, but that its `models:` lacks: model ->
        tables."""
        tables = {
            name: [table for table in spec.tables if table in self._study.tables]
            for name, spec in self._specs.models.items()
            if not self.has_model(name)
        }
        return {name: named for name, named in tables.items() if named}


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

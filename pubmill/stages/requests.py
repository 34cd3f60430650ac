"""The tables, models and datasets that a study requests."""

from typing import TypeGuard

from pubmill.stages.stage import GraphPart


class Requests(GraphPart):
    """Tables of a study, and the models and datasets that it limits them to."""

    def result_tables(self) -> list[str]:
        """Return the study's tables of results; the others are of facts."""
        return [table for table in self._study.tables if table in self._specs.tables]

    def fact_tables(self) -> list[str]:
        """Return the study's tables of facts; the others are of results."""
        return [table for table in self._study.tables if table in self._specs.fact_tables]

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

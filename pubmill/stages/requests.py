"""The tables, models and datasets that a study requests."""

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

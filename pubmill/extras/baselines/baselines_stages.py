"""Scores of datasets that need no learning."""

from typing import Any

from pubmill.extras.baselines.baselines_recipes import FloorsRecipe
from pubmill.stages.stage import Stage


class Floors(Stage):
    """Scores of a dataset that need no learning."""

    name, group, label = "floors", "convert", "Measuring the floors of {wildcards.dataset}"
    version = 2

    def recipe_of(self, wildcards: Any) -> FloorsRecipe:
        spec = self._specs.datasets[wildcards.dataset]
        return FloorsRecipe(
            name=spec.name,
            kind=spec.kind,
            task=spec.task,
            splits=spec.splits,
            access=spec.access,
            metric=spec.metric,
            negative=spec.negative,
        )

"""Scores of datasets that need no learning."""

from dataclasses import fields
from typing import Any

from pubmill.extras.baselines.floor import FloorsRecipe
from pubmill.stages.stage import Stage


class Floors(Stage):
    """Scores of a dataset that need no learning."""

    name, group, label = "floors", "convert", "Measuring the floors of {wildcards.dataset}"
    version = 2

    def recipe_of(self, wildcards: Any) -> FloorsRecipe:
        spec = self._specs.datasets[wildcards.dataset]
        return FloorsRecipe(**{one.name: getattr(spec, one.name) for one in fields(FloorsRecipe)})

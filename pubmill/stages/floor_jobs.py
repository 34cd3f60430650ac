"""Scores of datasets that need no learning."""

from typing import Any

from pubmill.recipes.floors import FloorsRecipe
from pubmill.recipes.tables import project
from pubmill.stages.stage import Stage


class Floors(Stage):
    """Scores of a dataset that need no learning."""

    name, group, label = "floors", "convert", "Measuring the floors of {wildcards.dataset}"
    version = 3

    def recipe_of(self, wildcards: Any) -> FloorsRecipe:
        return project(FloorsRecipe, self._specs.datasets[wildcards.dataset])

"""Floors of datasets, and the page of a study's floors."""

from types import MappingProxyType
from typing import Any

from pubmill.errors import PubmillError
from pubmill.extras.floors.floors_recipes import FloorsPageRecipe, FloorsRecipe, TableOfFloors
from pubmill.recipes.tables import project
from pubmill.stages.stage import TEMPLATES, Stage

WORD = "floors"
"""Requests the page, after `pubmill run STUDY` and in `extras:` of a study."""


class Floors(Stage):
    """Scores of a dataset that need no learning."""

    name, group, label = "floors", "convert", "Measuring the floors of {wildcards.dataset}"
    version = 4

    def recipe_of(self, wildcards: Any) -> FloorsRecipe:
        return project(FloorsRecipe, self._specs.datasets[wildcards.dataset])


class FloorsPage(Stage):
    """The page of a study's floors, and the room above them."""

    name, group, label = "floors_page", "report", "Writing the page of floors"
    version = 1
    read_by_name = (TEMPLATES, "pubmill/extras/floors/templates/*")
    words = MappingProxyType({WORD: f"{WORD}.html"})

    def files(self) -> list[str]:
        """Return the page in all formats."""
        return [self._paths.report(self._study.study, f"{WORD}.{form}") for form in ("json", "html")]

    def reported(self) -> list[str]:
        return self.files()[:1] if WORD in self._study.extras else []

    def inputs(self) -> list[str]:
        """Return the study's tables of results, and the files with the floors of their rows."""
        tables = self.recipe_of(None).tables
        floors = {file for one in tables for files in one.rows.values() for file in files}
        return list(map(self._paths.at, [*(one.file for one in tables), *sorted(floors)]))

    def recipe_of(self, wildcards: Any) -> FloorsPageRecipe:
        """Return the recipe of the page; a `PubmillError` for a study without tables of results."""
        tables = tuple(map(self._table, self.graph.requests.result_tables()))
        if not tables:
            raise PubmillError(f"study {self._study.study} has no tables of results that could have floors")
        return FloorsPageRecipe(title=self._study.title, tables=tables)

    def _table(self, table: str) -> TableOfFloors:
        """Return a table, with the rows whose datasets are all scored on test and have train."""
        spec, runs = self._specs.tables[table], self.graph.runs

        def is_measured(part: str) -> bool:
            has_train = "train" in self._specs.datasets[part].splits
            return has_train and runs.scored_split(spec.protocol, part) == "test"

        available = (row for row in spec.rows if self.graph.availability.row(spec, row.dataset) is None)
        parts = {row.name: runs.parts(spec.protocol, row.dataset) for row in available}
        return TableOfFloors(
            file=self._paths.below(self._paths.table(table, "json")),
            rows={
                row: tuple(f"{WORD}/{part}.json" for part in of_row)
                for row, of_row in parts.items()
                if all(map(is_measured, of_row))
            },
            composites=spec.composites,
        )

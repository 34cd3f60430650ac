"""Floors of a table's rows: scores that need no learning or seconds of it, and the room above them."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from pubmill.recipes.tables import TableRecipe
from pubmill.statistics.verdict_models import Shape
from pubmill.storage.files import read_json

FULL = 100.0
HIGHEST = "highest of each dataset"
"""Name of a composite's only floor: the mean of its datasets' highest floors."""


class FloorScores(Shape):
    """What a floor predicts, in words, and its scores by all metrics (0..1)."""

    definition: str
    metrics: dict[str, float]


class CeilingScore(Shape):
    """A score in per cent that annotators reach, and its source; 100 without one."""

    score: float = FULL
    source: str = ""


class DatasetFloors(Shape):
    """Floors of a dataset by name, and ceilings by metric. `data_sha256`: of the scored examples."""

    dataset: str
    data_sha256: str = ""
    floors: dict[str, FloorScores]
    ceilings: dict[str, CeilingScore]


class RowFloors(Shape):
    """Floors of a row by name, in per cent by the row's metric, and the ceiling."""

    floors: dict[str, float]
    definitions: dict[str, str] = {}
    ceiling: CeilingScore = CeilingScore()

    @property
    def highest(self) -> str:
        """The name of the highest floor."""
        return max(self.floors, key=lambda name: self.floors[name])

    @property
    def score(self) -> float:
        """The highest floor's score."""
        return self.floors[self.highest]

    @property
    def ordered(self) -> list[tuple[str, float]]:
        """The floors from the highest to the lowest."""
        return sorted(self.floors.items(), key=lambda one: -one[1])

    def share(self, value: float) -> float | None:
        """Return the share of the room above the highest floor that a score takes; None without room."""
        room = self.ceiling.score - self.score
        return (value - self.score) / room if room > 0 else None


def row_floors(recipe: TableRecipe, results: Path) -> dict[str, RowFloors]:
    """Return the floors of a table's rows, and of composites all of whose rows have some; a row of several
    folds has the mean over its folds."""
    floors = {
        row.key: one
        for row in recipe.rows
        if row.key in recipe.floors and (one := _of_row(recipe.floors[row.key], row.metric, results))
    }
    for composite in recipe.composites:
        rows = [name for group in composite.groups.values() for name in group]
        if all(name in floors for name in rows):
            highest = composite.mean({name: floors[name].score for name in rows})
            ceiling = composite.mean({name: floors[name].ceiling.score for name in rows})
            floors[composite.name] = RowFloors(
                floors={HIGHEST: highest}, ceiling=CeilingScore(score=ceiling, source="those of the datasets")
            )
    return floors


def _of_row(files: Sequence[str], metric: str, results: Path) -> RowFloors | None:
    """Return the floors that all files of a row have for a metric, each the mean over files; else None."""
    datasets = [DatasetFloors.model_validate(read_json(results / file)) for file in files]
    known = [
        {name: 100 * floor.metrics[metric] for name, floor in one.floors.items() if metric in floor.metrics}
        for one in datasets
    ]
    names = [name for name in known[0] if all(name in scores for scores in known)]
    if not names:
        return None
    ceilings = [one.ceilings.get(metric, CeilingScore()) for one in datasets]
    return RowFloors(
        floors={name: fmean(scores[name] for scores in known) for name in names},
        definitions={name: datasets[0].floors[name].definition for name in names},
        ceiling=CeilingScore(score=fmean(one.score for one in ceilings), source=ceilings[0].source),
    )

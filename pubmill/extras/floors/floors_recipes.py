"""Recipes of floors, with paths below the results folder, and the scores of a dataset's floors."""

from pubmill.recipes.datasets import Access
from pubmill.recipes.recipe_types import Kind, StrictRecipe
from pubmill.recipes.tables import Composite
from pubmill.statistics.verdict_models import Shape


class FloorsRecipe(StrictRecipe):
    """The dataset whose floors are measured; fields as in its spec."""

    name: str
    kind: Kind
    task: str
    splits: tuple[str, ...]
    access: Access
    metric: str
    negative: str | None = None


class CeilingScore(Shape):
    """A score in per cent that annotators reach, and its source; 100 without one."""

    score: float = 100.0
    source: str = ""


class DatasetFloors(Shape):
    """Scores of a dataset's floors (name -> metric -> 0..1), and its ceiling by metric."""

    floors: dict[str, dict[str, float]]
    ceilings: dict[str, CeilingScore]


class TableOfFloors(StrictRecipe):
    """A table on the page. `file`: its JSON; `rows`: row -> the files with the floors of its datasets."""

    file: str
    rows: dict[str, tuple[str, ...]]
    composites: tuple[Composite, ...]


class FloorsPageRecipe(StrictRecipe):
    """The input of the job that writes the page of a study's floors."""

    title: str
    tables: tuple[TableOfFloors, ...]

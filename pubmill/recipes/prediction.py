"""Recipes of predictions without training."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class AnnotationRecipe:
    """The input of an annotation. `types`: entity label of the pipeline -> mention type of the dataset, ""
    where its labels have no type. Entities with other labels are ignored."""

    types: dict[str, str]

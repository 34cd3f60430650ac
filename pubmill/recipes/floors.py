"""The recipe of measuring the floors of a dataset."""

from dataclasses import dataclass

from pubmill.recipes.datasets import Access
from pubmill.recipes.recipe_types import Kind


@dataclass(frozen=True, kw_only=True)
class FloorsRecipe:
    """The dataset whose floors are measured; fields as in its spec."""

    name: str
    kind: Kind
    task: str
    splits: tuple[str, ...]
    access: Access
    metric: str
    negative: str | None = None

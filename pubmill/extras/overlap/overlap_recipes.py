"""Recipe of scores split by what items share with training."""

from dataclasses import dataclass, field
from typing import Literal

from pubmill.recipes.recipe_types import OMIT_DEFAULT

TRAINING: tuple[Literal["train"]] = ("train",)
"""The splits that scored items are compared with."""


@dataclass(frozen=True, kw_only=True)
class OverlapRecipe:
    """The cells of a table whose scores are split: column -> rows. `corpora`: column -> the corpora that its
    model is pretrained on here; `dated`: corpora in whose sources years are looked up, for all columns."""

    cells: dict[str, tuple[str, ...]]
    corpora: dict[str, tuple[str, ...]]
    dated: tuple[str, ...] = field(default=(), metadata=OMIT_DEFAULT)

"""Recipe of scores split by what items share with training."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class OverlapRecipe:
    """The cells of a table whose scores are split: column -> rows. `corpora`: column -> the corpora that its
    model is pretrained on here."""

    cells: dict[str, tuple[str, ...]]
    corpora: dict[str, tuple[str, ...]]

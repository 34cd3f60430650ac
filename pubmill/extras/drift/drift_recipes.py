"""Recipe of losses by date of publication."""

from dataclasses import dataclass

from pubmill.recipes.pretraining import PackingRecipe, PretrainingRecipe


@dataclass(frozen=True, kw_only=True)
class DatedShard:
    """Where a part of a corpus comes from: its parsed shard, below the folder of those, and its PubMed file,
    below the results; empty for other sources, which have no months."""

    parsed: str
    file: str = ""


@dataclass(frozen=True, kw_only=True)
class DriftRecipe:
    """A checkpoint, and the held-out documents on which it is measured.

    - `recipe`: the name of the pretraining.
    - `step`: its last step.
    - `corpus`: the corpus whose documents are dated, one of `shards` for each part.
    """

    recipe: str
    step: int
    corpus: str
    pretraining: PretrainingRecipe
    packing: PackingRecipe
    shards: tuple[DatedShard, ...]

"""Recipe of losses by date of publication."""

from dataclasses import dataclass

from pubmill.recipes.pretraining import PackingRecipe, PretrainingRecipe


@dataclass(frozen=True, kw_only=True)
class DatedShard:
    """Source of one part of a corpus. `parsed`: its parsed shard, below the folder of parsed shards; `file`:
    its PubMed file, below the results, or empty for other sources, which have no months."""

    parsed: str
    file: str = ""


@dataclass(frozen=True, kw_only=True)
class DriftRecipe:
    """A checkpoint, and the held-out documents on which it is measured.

    - `recipe`: the name of the pretraining.
    - `step`: the step of the checkpoint.
    - `corpus`: the corpus with the held-out documents; `shards` has one entry for each of its parts.
    """

    recipe: str
    step: int
    corpus: str
    pretraining: PretrainingRecipe
    packing: PackingRecipe
    shards: tuple[DatedShard, ...]

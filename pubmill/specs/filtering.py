"""What a corpus leaves out that no document shows by itself: copies of others, and texts of datasets."""

from typing import Annotated, Literal

from pydantic import Field

from pubmill.specs.base import Name, Strict

Day = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d$")]


class Duplicates(Strict):
    """Texts that are in the corpus more than once. The copy of the source with most authority is kept, and
    of one source the first.

    `exact`: the same words in the same order; case, punctuation and spaces don't count.
    `similarity`: also texts whose sets of five successive words overlap so much (Jaccard), as estimated
    from 128 MinHashes; Lee et al. (2022), "Deduplicating training data makes language models better",
    section 4.2, take 0.8. Null leaves it off.
    """

    exact: Literal[True] = True
    similarity: Annotated[float, Field(ge=0.5, le=1.0)] | None = None


class Contamination(Strict):
    """Documents that hold texts of these splits of these datasets are left out."""

    datasets: Annotated[tuple[Name, ...], Field(min_length=1)]
    splits: Annotated[tuple[Literal["dev", "test"], ...], Field(min_length=1)] = ("dev", "test")

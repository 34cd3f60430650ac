"""Filters that compare documents: with each other (duplicates) and with datasets (contamination)."""

from typing import Annotated, Literal

from pydantic import Field

from pubmill.specs.spec_types import Name, Strict


class Duplicates(Strict):
    """Removal of texts that occur more than once. The copy from the source with the most authority is kept;
    within a source, the first copy.

    `exact`: the same words in the same order, ignoring case, punctuation and spaces.
    `similarity`: also texts whose sets of five successive words have at least this Jaccard similarity,
    estimated from 128 MinHashes; Lee et al. (2022), "Deduplicating training data makes language models
    better", section 4.2, use 0.8. Null turns it off.
    """

    exact: Literal[True] = True
    similarity: Annotated[float, Field(ge=0.5, le=1.0)] | None = None


class Contamination(Strict):
    """Removal of documents that contain texts of these splits of these datasets.

    - `datasets`: the datasets whose texts are searched for.
    - `splits`: the splits whose texts are searched for.
    """

    datasets: Annotated[tuple[Name, ...], Field(min_length=1)]
    splits: Annotated[tuple[Literal["dev", "test"], ...], Field(min_length=1)] = ("dev", "test")

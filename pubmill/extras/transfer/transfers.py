"""Recipes of transfers: a run's model on another dataset of the same type of mentions."""

from dataclasses import dataclass

from pubmill.recipes.recipe_types import FORBID_UNKNOWN
from pubmill.recipes.tables import Aggregate


@dataclass(frozen=True, kw_only=True)
class TransferOfRun:
    """A run, and the dataset that its model is scored on. `mentions`: the type of both datasets' mentions."""

    __pydantic_config__ = FORBID_UNKNOWN

    protocol: str
    model: str
    setting: str
    seed: int
    scale: str
    trained_on: str
    scored_on: str
    mentions: str


@dataclass(frozen=True, kw_only=True)
class TransferRecipe(TransferOfRun):
    """A transfer with the main metric of the other dataset."""

    metric: str


@dataclass(frozen=True, kw_only=True)
class TransferHeading:
    """A model in a setting. `labels`: dataset -> label; `types`: type of mentions -> datasets."""

    protocol: str
    model: str
    setting: str
    scale_title: str
    comparable: bool
    metrics: dict[str, str]
    labels: dict[str, str]
    types: dict[str, tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class TransferMatrixRecipe(TransferHeading):
    """The transfers of a model in a setting. `scores`: training dataset -> scored dataset -> files with
    scores, below the results folder, one for each seed."""

    aggregate: Aggregate
    scores: dict[str, dict[str, tuple[str, ...]]]

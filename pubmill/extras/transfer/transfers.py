"""Recipes of transfers: a run's model on another dataset of the same type of mentions."""

from dataclasses import dataclass

from pubmill.recipes.tables import Aggregate


@dataclass(frozen=True, kw_only=True)
class TransferRecipe:
    """A run, and the dataset that its model is scored on. `mentions`: the type of both datasets' mentions."""

    protocol: str
    model: str
    setting: str
    seed: int
    scale: str
    trained_on: str
    scored_on: str
    mentions: str
    metric: str


@dataclass(frozen=True, kw_only=True)
class TransferMatrixRecipe:
    """The transfers of a model in a setting. `labels`: dataset -> label; `types`: type of mentions ->
    datasets; `scores`: training dataset -> scored dataset -> files with scores, below the results folder, one
    for each seed."""

    protocol: str
    model: str
    setting: str
    scale_title: str
    comparable: bool
    aggregate: Aggregate
    metrics: dict[str, str]
    labels: dict[str, str]
    types: dict[str, tuple[str, ...]]
    scores: dict[str, dict[str, tuple[str, ...]]]

"""The recipe of a checklist; all paths are below the results folder."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from pubmill.recipes.models import ModelWeights, NotTuned
from pubmill.recipes.report import StudyResults
from pubmill.recipes.tables import Aggregate
from pubmill.storage.result_paths import RunKey

StudyRuns = dict[str, dict[str, dict[str, dict[str, list[int]]]]]
"""protocol -> model -> setting -> dataset -> seeds: every run of a study, short enough for a command line."""


@dataclass(frozen=True, kw_only=True)
class ProtocolSummary:
    """How runs are made, from the protocol's spec; `overrides`: name -> values, with `why`."""

    citation: str
    notes: tuple[str, ...]
    hyperparameters: dict[str, Any]
    overrides: dict[str, dict[str, Any]]
    aggregate: Aggregate
    split: str


@dataclass(frozen=True, kw_only=True)
class SearchSummary:
    """A grid, the models and seeds that it is tried with, and the files with its choices."""

    protocol: str
    grid: dict[str, tuple[Any, ...]]
    models: tuple[str, ...] | Literal["each"]
    seeds: int
    selected: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ModelSummary:
    """A model, from its spec."""

    label: str
    citation: str
    notes: tuple[str, ...]
    lowercase: bool
    weights: ModelWeights | NotTuned


@dataclass(frozen=True, kw_only=True)
class DatasetSummary:
    """A dataset, from its spec. `links`: its public files; `made_up`: the scale has other files instead."""

    label: str
    task: str
    kind: str
    domain: str
    metric: str
    access: str
    apply: str | None
    licence: str
    citation: str
    links: tuple[str, ...]
    made_up: bool


@dataclass(frozen=True, kw_only=True)
class ChecklistRecipe(StudyResults):
    """The study's specs, as input of the checklist."""

    runs: StudyRuns
    searches: tuple[SearchSummary, ...]
    protocols: dict[str, ProtocolSummary]
    models: dict[str, ModelSummary]
    datasets: dict[str, DatasetSummary]
    versions: dict[str, int]


def run_keys(runs: StudyRuns) -> Iterator[tuple[RunKey, list[int]]]:
    """Yield runs, each with its seeds."""
    for protocol, models in runs.items():
        for model, settings in models.items():
            for setting, datasets in settings.items():
                for dataset, seeds in datasets.items():
                    yield RunKey(protocol, model, dataset, setting), seeds

"""What the reproducibility checklist is filled from: the study's specs, records, choices, logs and cards."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from safetensors import SafetensorError, safe_open

from pubmill.errors import PubmillError
from pubmill.metrics.records import Record, read_record
from pubmill.publication.report import Pretraining, read_pretraining
from pubmill.statistics.verdict_models import Aggregate, Shape
from pubmill.storage.files import read_json
from pubmill.storage.result_paths import BELOW, DIAGNOSIS, STATISTICS, WEIGHTS
from pubmill.tables.cells import Table, read_table
from pubmill.tables.dataset_cards import Card, read_card

OFF_THE_SHELF = "off-the-shelf"
"""What stands in the place of the protocol in runs of a finished pipeline."""


class Protocol(Shape):
    """How runs are made, as its spec says; `overrides`: name -> values, with `why`."""

    citation: str
    notes: tuple[str, ...]
    hyperparameters: dict[str, Any]
    overrides: dict[str, dict[str, Any]]
    aggregate: Aggregate
    split: str


class Search(Shape):
    """A grid, the models and seeds that it is tried with, and the choices made by it, below the results."""

    protocol: str
    grid: dict[str, tuple[Any, ...]]
    models: tuple[str, ...] | Literal["each"]
    seeds: int
    selected: tuple[str, ...]


class Model(Shape):
    label: str
    citation: str
    notes: tuple[str, ...]
    lowercase: bool
    weights: dict[str, Any]


class Dataset(Shape):
    """`links`: where its public files are; `made_up`: the scale has other files under its name."""

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


class ChecklistRecipe(Shape):
    """What the study's specs say; `runs`: protocol -> model -> setting -> dataset -> seeds."""

    study: str
    title: str
    scale: str
    scale_title: str
    comparable: bool
    tables: tuple[str, ...]
    pretraining: dict[str, tuple[str, ...]]
    corpora: tuple[str, ...]
    vocabs: tuple[str, ...]
    runs: dict[str, dict[str, dict[str, dict[str, tuple[int, ...]]]]]
    searches: tuple[Search, ...]
    protocols: dict[str, Protocol]
    models: dict[str, Model]
    datasets: dict[str, Dataset]
    versions: dict[str, Any]

    def run_paths(self) -> Iterator[str]:
        """The records of all runs, below the results folder."""
        for protocol, models in self.runs.items():
            for model, settings in models.items():
                for setting, datasets in settings.items():
                    for dataset, seeds in datasets.items():
                        run = (protocol, model, dataset, setting)
                        yield from (BELOW.record(*run, seed) for seed in seeds)


@dataclass(frozen=True)
class StudyData:
    """Everything that answers are from. `choices`: path -> what was chosen and from which trials;
    `parameters`: model -> numbers in its weights, None where they are not at hand any more."""

    recipe: ChecklistRecipe
    tables: dict[str, Table]
    records: list[Record]
    choices: dict[str, dict[str, Any]]
    pretrainings: list[Pretraining]
    corpora: dict[str, dict[str, Any]]
    vocabs: dict[str, dict[str, Any]]
    cards: dict[str, Card]
    parameters: dict[str, int | None]

    @property
    def trained(self) -> list[Record]:
        """The records of fine-tuning: those of pipelines left out."""
        return [record for record in self.records if record.protocol != OFF_THE_SHELF]


def read_study(recipe: ChecklistRecipe, results: Path) -> StudyData:
    """Read all that was measured; a `PubmillError` names the first file that is absent or wrong."""
    return StudyData(
        recipe=recipe,
        tables={name: read_table(results / BELOW.table(name, "json")) for name in recipe.tables},
        records=[read_record(results / path) for path in recipe.run_paths()],
        choices={path: read_json(results / path) for one in recipe.searches for path in one.selected},
        pretrainings=[
            read_pretraining(name, [results / folder for folder in folders])
            for name, folders in recipe.pretraining.items()
        ],
        corpora={name: read_json(results / BELOW.corpus(name, STATISTICS)) for name in recipe.corpora},
        vocabs={name: read_json(results / BELOW.vocab(name, DIAGNOSIS)) for name in recipe.vocabs},
        cards={name: read_card(results / BELOW.card(name)) for name in recipe.datasets},
        # Weights are no input of the checklist: whoever has only predictions must not pretrain for it.
        parameters={name: count_parameters(results / BELOW.model(name, WEIGHTS)) for name in recipe.models},
    )


def count_parameters(weights: Path) -> int | None:
    """How many numbers a model's weights hold, each tensor once; None where the file isn't there."""
    if not weights.is_file():
        return None
    try:
        with safe_open(weights, "np") as tensors:
            shapes = [tensors.get_slice(name).get_shape() for name in tensors.keys()]  # noqa: SIM118
            return sum(int(math.prod(shape)) for shape in shapes)
    except (SafetensorError, OSError) as error:
        raise PubmillError(f"{weights} can't be read: {error}; make the model again") from None

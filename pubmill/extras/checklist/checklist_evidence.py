"""Evidence for the checklist: specs, records, choices, logs and cards; and the form of its answers."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pandas import DataFrame
from safetensors import SafetensorError, safe_open

from pubmill.errors import PubmillError
from pubmill.extras.checklist.checklist_recipes import ChecklistRecipe, StudyRuns, run_keys
from pubmill.finetuning.trial_selection import Selection
from pubmill.report.report_content import PretrainingSummary
from pubmill.report.study_report import read_pretraining
from pubmill.storage.files import read_json
from pubmill.storage.model_folders import WEIGHTS
from pubmill.storage.result_paths import BELOW, DIAGNOSIS, STATISTICS
from pubmill.tables.cells import Table, read_table
from pubmill.tables.dataset_cards import Card, read_card
from pubmill.tables.recorded_runs import load_records

OFF_THE_SHELF = "off-the-shelf"
"""Protocol name in the runs of finished pipelines."""
Basis = Literal["measured", "specified", "measured and specified", "unknown", "not applicable"]
BASES: Mapping[str, str] = {
    "measured": "Measured",
    "specified": "From the specifications",
    "measured and specified": "Measured, and from the specifications",
    "unknown": "Not known to pubmill; for the authors to answer",
    "not applicable": "Does not apply",
}


def run_paths(runs: StudyRuns) -> Iterator[str]:
    """Yield the paths of all runs' records, below the results folder."""
    for run, seeds in run_keys(runs):
        yield from (BELOW.record(run, seed) for seed in seeds)


@dataclass(frozen=True)
class StudyData:
    """The data that answers are derived from.

    - `records`: one line per run, see `pubmill.tables.recorded_runs`.
    - `choices`: path -> chosen values and the trials considered.
    - `parameters`: model -> number of parameters, None if the weights are no longer available.
    """

    recipe: ChecklistRecipe
    tables: dict[str, Table]
    records: DataFrame
    choices: dict[str, Selection]
    pretrainings: list[PretrainingSummary]
    corpora: dict[str, dict[str, Any]]
    vocabs: dict[str, dict[str, Any]]
    cards: dict[str, Card]
    parameters: dict[str, int | None]

    @property
    def trained(self) -> DataFrame:
        """The records of fine-tuning runs, without those of pipelines."""
        return self.records[self.records["protocol"] != OFF_THE_SHELF]


def read_study(recipe: ChecklistRecipe, results: Path) -> StudyData:
    """Read all measured data; a `PubmillError` names the first file that is missing or wrong."""
    return StudyData(
        recipe=recipe,
        tables={name: read_table(results / BELOW.table(name, "json")) for name in recipe.tables},
        records=load_records(results, run_paths(recipe.runs)),
        choices={path: read_json(results / path) for one in recipe.searches for path in one.selected},
        pretrainings=[
            read_pretraining(name, [results / folder for folder in folders])
            for name, folders in recipe.pretraining.items()
        ],
        corpora={name: read_json(results / BELOW.corpus(name, STATISTICS)) for name in recipe.corpora},
        vocabs={name: read_json(results / BELOW.vocab(name, DIAGNOSIS)) for name in recipe.vocabs},
        cards={name: read_card(results / BELOW.card(name)) for name in recipe.datasets},
        # Weights are optional: users who have only predictions need not pretrain for the checklist.
        parameters={name: count_parameters(results / BELOW.model(name, WEIGHTS)) for name in recipe.models},
    )


def count_parameters(weights: Path) -> int | None:
    """Count the numbers in a model's weights, each tensor once; None if the file does not exist."""
    if not weights.is_file():
        return None
    try:
        with safe_open(weights, "np") as tensors:
            shapes = [tensors.get_slice(name).get_shape() for name in tensors.keys()]  # noqa: SIM118
            return sum(int(math.prod(shape)) for shape in shapes)
    except (SafetensorError, OSError) as error:
        raise PubmillError(f"{weights} cannot be read: {error}; rebuild the model") from None


@dataclass(frozen=True)
class Grid:
    """A table whose rows have one cell for each heading."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class ChecklistAnswer:
    """An answer and its `basis`, in sentences and, for longer answers, in a table."""

    basis: Basis
    text: tuple[str, ...] = ()
    grid: Grid | None = None

    @property
    def basis_text(self) -> str:
        """The basis in words."""
        return BASES[self.basis]


@dataclass(frozen=True)
class Item:
    """A question with its answer."""

    question: str
    answer: ChecklistAnswer


def grid(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> Grid | None:
    """Return a table, or None without rows."""
    cells = tuple(tuple(row) for row in rows)
    return Grid(tuple(headings), cells) if cells else None


def value_text(value: Any) -> str:
    """Return a recipe's value as text."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(value_text, value)) or "none"
    if isinstance(value, Mapping):
        return "; ".join(f"{name_of(key)} {value_text(one)}" for key, one in value.items())
    return str(value)


def name_of(key: str) -> str:
    """Return the name of a key as text."""
    return key.replace("_", " ")

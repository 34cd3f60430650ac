"""Recipes of what a study publishes: report, checklist, crate, dataset pages.

All paths are below the results folder; lists of files are shortened (`Listed`).
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from pubmill.recipes.datasets import PublishedFile
from pubmill.recipes.models import ModelWeights, NotTuned
from pubmill.recipes.recipe_types import FORBID_UNKNOWN, OMIT_DEFAULT
from pubmill.recipes.tables import Aggregate, Listed

StudyRuns = dict[str, dict[str, dict[str, dict[str, list[int]]]]]
"""protocol -> model -> setting -> dataset -> seeds: every run of a study, short enough for a command line."""


@dataclass(frozen=True, kw_only=True)
class StudyResults:
    """What report and checklist both present: a study and its results at a scale.

    `pretraining`: recipe -> its checkpoints.
    """

    study: str
    title: str
    scale: str
    scale_title: str
    comparable: bool
    tables: tuple[str, ...]
    pretraining: dict[str, tuple[str, ...]]
    corpora: tuple[str, ...]
    vocabs: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Reference:
    """How to cite a paper.

    - `text`: authors, year, title and venue.
    - `doi`: its DOI; empty if it has none.
    """

    __pydantic_config__ = FORBID_UNKNOWN

    text: str
    doi: str = ""


@dataclass(frozen=True, kw_only=True)
class ReportRecipe(StudyResults):
    """The input of the job that builds a report.

    - `checkpoints`: model -> recipe and step of its weights.
    - `fits`: model -> dataset -> diagnosis of the model's vocabulary on it.
    - `overlap`: tables whose scores are split by what items share with training.
    - `sources`: .source.json records of the study's raw files.
    - `references`: paper -> how to cite it, if a protocol says so.
    - `rules`: rules by the group under which they are drawn.
    - `statements`: spec files with statements on the methods of the tables' papers; `statements_sha256`: of
      what the report shows of them, so that it is made again when that changes.
    """

    fact_tables: tuple[str, ...]
    models: tuple[str, ...]
    checkpoints: dict[str, tuple[str, int]]
    fits: dict[str, dict[str, str]]
    datasets: tuple[str, ...]
    sources: Listed
    rules: dict[str, tuple[str, ...]] = field(default_factory=dict)
    overlap: tuple[str, ...] = field(default=(), metadata=OMIT_DEFAULT)
    references: dict[str, Reference] = field(default_factory=dict, metadata=OMIT_DEFAULT)
    statements: tuple[str, ...] = ()
    statements_sha256: str = ""


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
    """A dataset, from its spec. `links`: addresses of its public files; `made_up`: the scale uses other files
    under its name."""

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


@dataclass(frozen=True, kw_only=True)
class CrateAuthor:
    """The person responsible for the results."""

    name: str
    orcid: str


@dataclass(frozen=True, kw_only=True)
class CrateRecipe:
    """The input of the job that builds a crate.

    - `configuration`: the study without folders of the machine.
    - `tables`: the study's tables; `results`: files to include; `sources`: .source.json records of source
      files.
    - `licences`, `conditions`: source file -> licence in words, and the page where users request access.
    """

    study: str
    title: str
    scale: str
    scale_title: str
    configuration: dict[str, Any]
    author: CrateAuthor | None
    tables: tuple[str, ...]
    results: tuple[str, ...]
    sources: Listed
    licences: dict[str, str]
    conditions: dict[str, str]
    versions: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class PageSource:
    """A source file: its place and check in the spec, and its record."""

    __pydantic_config__ = FORBID_UNKNOWN

    role: str
    place: str
    url: str | None
    check: str | None
    record: str


@dataclass(frozen=True, kw_only=True)
class PageRecipe:
    """The input of the job that builds a dataset's page, besides the card: the dataset's spec and its other
    variants. `made_up`: at this scale its files are not the published ones."""

    __pydantic_config__ = FORBID_UNKNOWN

    name: str
    label: str
    kind: str
    task: str
    domain: str
    suites: tuple[str, ...]
    metric: str
    negative: str | None
    access: str
    apply: str | None
    licence: str
    citation: str
    conflicts: tuple[str, ...]
    notes: tuple[str, ...]
    scale: str
    scale_title: str
    made_up: bool
    card: str
    sources: tuple[PageSource, ...]
    published: dict[str, PublishedFile]
    variants: tuple[str, ...]
    versions: dict[str, int]

"""Recipes of the report of a study and of its sections on datasets.

All paths are below the results folder.
"""

from dataclasses import field

from pubmill.recipes.datasets import Glosses, PublishedFile
from pubmill.recipes.recipe_types import StrictRecipe


class Reference(StrictRecipe):
    """How to cite a paper.

    - `text`: authors, year, title and venue.
    - `doi`: its DOI; empty if it has none.
    """

    text: str
    doi: str = ""


class PageSource(StrictRecipe):
    """A source file: its place and check in the spec, and its record."""

    role: str
    place: str
    url: str | None
    check: str | None
    record: str


class PageRecipe(StrictRecipe):
    """What a dataset's page shows besides its card: the dataset's spec and its other variants. `made_up`:
    at this scale its files are not the published ones."""

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
    glosses: Glosses | None
    scale: str
    scale_title: str
    made_up: bool
    card: str
    sources: tuple[PageSource, ...]
    published: dict[str, PublishedFile]
    variants: tuple[str, ...]


class ReportRecipe(StrictRecipe):
    """The input of the job that builds a report.

    - `pretraining`: recipe -> its checkpoints.
    - `sections`: stages of extras whose sections it has.
    - `sources`: .source.json records of the study's raw files.
    - `references`: paper -> how to cite it, if a protocol says so.
    - `rules`: rules by the group under which they are drawn.
    - `example`: address of an example of a report, for one that tests no published value.
    - `statements`: spec files with statements on the methods of the tables' papers; `statements_sha256`:
      digest of what the report shows of them, so that a change of it makes the report again.
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
    fact_tables: tuple[str, ...]
    models: tuple[str, ...]
    datasets: tuple[PageRecipe, ...]
    sources: tuple[str, ...]
    rules: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sections: tuple[str, ...] = ()
    references: dict[str, Reference] = field(default_factory=dict)
    example: str = ""
    statements: tuple[str, ...] = ()
    statements_sha256: str = ""

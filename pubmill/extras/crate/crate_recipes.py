"""The recipe of an RO-Crate; all paths are below the results folder."""

from dataclasses import dataclass
from typing import Any


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
    - `licences`, `conditions`: source file -> licence in words, and, if it isn't public, the page where users
      request access; empty for files of the user's own.
    """

    study: str
    title: str
    scale: str
    scale_title: str
    configuration: dict[str, Any]
    author: CrateAuthor | None
    tables: tuple[str, ...]
    results: tuple[str, ...]
    sources: tuple[str, ...]
    licences: dict[str, str]
    conditions: dict[str, str]
    versions: dict[str, int]

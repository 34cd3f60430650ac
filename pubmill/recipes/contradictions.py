"""The recipe of the page of contradictions between published values."""

from dataclasses import dataclass
from typing import Any

from pubmill.recipes.tables import Aggregate, Composite, PublishedColumn, PublishedRow


@dataclass(frozen=True, kw_only=True)
class PublishedTable:
    """The published side of a result table. `metric`: its own, if any; `columns`: those in its own setting;
    `elsewhere`: paper or table -> dataset, or `any` -> why this table's values differ from those there."""

    name: str
    paper: str
    number: int
    file: str
    protocol: str
    aggregate: Aggregate
    metric: str | None
    columns: tuple[PublishedColumn, ...]
    rows: tuple[PublishedRow, ...]
    composites: tuple[Composite, ...]
    left_out: dict[str, str]
    elsewhere: dict[str, dict[str, str]]


@dataclass(frozen=True, kw_only=True)
class ContradictionsRecipe:
    """The input of the job that builds the page of contradictions. `models`: name -> label."""

    tables: tuple[PublishedTable, ...]
    models: dict[str, str]
    versions: dict[str, Any]

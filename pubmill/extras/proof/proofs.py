"""Recipes of proofs; all paths are below the results folder."""

from dataclasses import dataclass, field
from typing import Any

from pubmill.recipes.audits import AuditedTable
from pubmill.recipes.recipe_types import OMIT_DEFAULT
from pubmill.recipes.tables import TableRecipe


@dataclass(frozen=True, kw_only=True)
class TableBasisRecipe:
    """The input of the job that writes a table's basis: its recipe; `audited`: how its models are ranked."""

    table: TableRecipe
    audited: AuditedTable
    versions: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class ProofRecipe:
    """The input of the job that builds a proof.

    - `tables`: the study's tables of results.
    - `notices`: lists of the datasets' documents that were retracted or revised.
    - `open_datasets`: the datasets with labelled items in the proof; others have counts and hashes only.
    """

    study: str
    title: str
    scale: str
    scale_title: str
    comparable: bool
    tables: tuple[str, ...]
    open_datasets: tuple[str, ...]
    notices: tuple[str, ...] = field(default=(), metadata=OMIT_DEFAULT)
    versions: dict[str, int]

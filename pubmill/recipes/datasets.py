"""Recipes of datasets: conversion, and published forms."""

from dataclasses import dataclass
from typing import Any, Literal

from pubmill.recipes.base import FORBID_UNKNOWN, Kind
from pubmill.recipes.finetuning import Dummies

Access = Literal["public", "registration", "credentialed"]


@dataclass(frozen=True, kw_only=True)
class ConversionRecipe:
    """Everything that determines a dataset's examples; `expect` is split -> measure -> count."""

    dataset: str
    kind: Kind
    access: Access
    splits: tuple[str, ...]
    converter: str
    options: dict[str, Any]
    duplicates: Literal["keep"]
    expect: dict[str, dict[str, int]]
    metric: str
    negative: str | None = None
    version: int


@dataclass(frozen=True, kw_only=True)
class FormFile:
    """A file of a published form, and its hash; null if the published bytes are not known."""

    __pydantic_config__ = FORBID_UNKNOWN

    name: str
    sha256: str | None


@dataclass(frozen=True, kw_only=True)
class PublishedRecipe:
    """The published form of a dataset.

    `files`: split -> file. `options` under the name of a split apply only to that split. `dummies`: those of
    a dataset with entity mentions, else null.
    """

    dataset: str
    kind: Kind
    access: Access
    writer: str
    options: dict[str, Any]
    dummies: Dummies | None
    files: dict[str, FormFile]

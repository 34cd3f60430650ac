"""Recipes of datasets: conversion, and published forms."""

import re
from dataclasses import field
from typing import Any, Literal

from pubmill.recipes.finetuning import Dummies
from pubmill.recipes.recipe_types import Kind, StrictRecipe
from pubmill.storage.name_patterns import FILE, FILE_WORDS, fits

Access = Literal["public", "registration", "local", "credentialed"]
_SHA256 = re.compile("[0-9a-f]{64}")


class ConversionRecipe(StrictRecipe):
    """Everything that determines a dataset's examples; `expect` is split -> measure -> count. `duplicates`:
    every dataset keeps its repetitions, which are measured."""

    dataset: str
    kind: Kind
    access: Access
    splits: tuple[str, ...]
    converter: str
    options: dict[str, Any]
    duplicates: Literal["keep"] = "keep"
    expect: dict[str, dict[str, int]]
    metric: str
    negative: str | None = None
    version: int


class SentencesRecipe(StrictRecipe):
    """The dataset whose sentences get documents, its splits, and who may have them."""

    dataset: str
    splits: tuple[str, ...]
    access: Access


class PublishedFile(StrictRecipe):
    """A file of a published form, and its hash; null if the published bytes are not known.

    - `name`: the file's name.
    - `sha256`: its hash; null: the published bytes are not known.
    """

    name: str
    sha256: str | None = None

    def __post_init__(self) -> None:
        if not fits(FILE, self.name):
            raise ValueError(f"name must be {FILE_WORDS}, found {self.name!r}")
        if self.sha256 is not None and not _SHA256.fullmatch(self.sha256):
            raise ValueError(f"sha256 must be 64 hexadecimal digits, found {self.sha256!r}")


class Glosses(StrictRecipe):
    """What is annotated and what its labels mean, in words, as the guidelines of the corpus have it.

    - `annotated`: what is annotated: a phrase.
    - `labels`: the meaning of each label or type whose name does not say it: a phrase each; a null one
      removes that of the included spec.
    - `source`: the guidelines, or the paper that describes them.
    """

    annotated: str
    labels: dict[str, str] = field(default_factory=dict)
    source: str

    def __post_init__(self) -> None:
        if not all([self.annotated, self.source, *self.labels.values()]):
            raise ValueError("glosses must not be empty")


class PublishedRecipe(StrictRecipe):
    """The published form of a dataset. `files`: split -> file. `options` under the name of a split apply only
    to that split. `dummies`: those of a dataset with entity mentions, else null."""

    dataset: str
    kind: Kind
    access: Access
    writer: str
    options: dict[str, Any]
    dummies: Dummies | None
    files: dict[str, PublishedFile]

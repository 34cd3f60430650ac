"""Recipes of tables of facts. Headings, columns and rows are also part of the finished tables."""

import re
from dataclasses import replace
from typing import Any, Literal

from pubmill.recipes.recipe_types import StrictRecipe
from pubmill.recipes.tables import Heading

Subjects = Literal["datasets", "models", "tasks", "protocols"]
FactKind = Literal[
    "text", "boolean", "count", "ratio", "words", "bytes", "minutes", "epochs", "learning_rate", "batch_size"
]
"""Kinds of facts, by their names in the published files."""
FactValue = bool | int | float | str


def fact_of(value: str) -> str:
    """Return a fact without its details: `count` of `count.train`."""
    return re.split(r"[.=]", value)[0]


class FactTableColumn(StrictRecipe):
    """A fact. `value`: its pattern, as in `pubmill.specs.fact_table_specs` (with the dataset of a `fit`);
    `published`: its name among the published values."""

    key: str
    label: str
    value: str
    kind: FactKind
    published: str

    @property
    def fact(self) -> str:
        """The fact without its details: `count` of `count.train`."""
        return fact_of(self.value)

    @property
    def detail(self) -> str:
        """The details without the fact: `train` of `count.train`."""
        return self.value[len(self.fact) + 1 :]


class FactSource(StrictRecipe):
    """The source of a cell: its `value` from a spec, the `files` below the results folder to read it from, or
    why there is neither (`lacking`). `scaled`: why it differs from the published value, if the scale causes
    that. Fields that do not apply to a source keep their defaults and are not written."""

    value: FactValue | None = None
    files: tuple[str, ...] | None = None
    lacking: str | None = ""
    scaled: str | None = ""

    @property
    def paths(self) -> tuple[str, ...]:
        """The files to read the value from, if any."""
        return self.files or ()

    @property
    def complete(self) -> "FactSource":
        """The source with all fields, as a finished table has it."""
        return replace(self, files=self.paths, lacking=self.lacking or None, scaled=self.scaled or None)


class FactTableRow(StrictRecipe):
    """A subject.

    - `measure`: what is counted in a dataset.
    - `published`: its name among the published values.
    - `why`: column -> why our value differs from the published one.
    - `sources`: column -> source of our value.
    - `conflicts`: contradictory published counts of a dataset.
    """

    subject: str
    label: str
    measure: str
    published: str
    why: dict[str, str]
    sources: dict[str, FactSource]
    conflicts: tuple[str, ...] = ()


class FactHeading(Heading):
    """The heading of a fact table. `down`: if set, facts are rows (under this heading), subjects columns."""

    subjects: Subjects
    down: str | None = None
    columns: tuple[FactTableColumn, ...]
    rows: tuple[FactTableRow, ...]


class FactTableRecipe(FactHeading):
    """The input of a fact table's job. `lists_members`: the published table only names a group's members."""

    lists_members: bool = False
    versions: dict[str, Any]

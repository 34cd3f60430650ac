"""Specs of tables: of results, and of what datasets are like."""

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from pubmill.specs.base import Name, Spec, Strict
from pubmill.specs.datasets import METRICS
from pubmill.specs.protocols import SettingName


def _known_metric(name: str) -> str:
    known = sorted({metric for metrics in METRICS.values() for metric in metrics})
    if name not in known:
        raise ValueError(f"there is no metric {name}; there are {', '.join(known)}")
    return name


Metric = Annotated[str, AfterValidator(_known_metric)]


class Column(Strict):
    """A model. `best_of`: no model, but in each row the best of these columns (chosen on what is shown)."""

    model: Name
    label: str
    missing: str | None = None
    best_of: Annotated[tuple[Name, ...], Field(min_length=2)] | None = None


class Row(Strict):
    dataset: Name
    label: str
    group: str
    missing: str | None = None


class Composite(Strict):
    """The mean over task groups of the mean over each group's datasets (gu2020 section 4)."""

    name: str
    label: str
    groups: dict[str, tuple[Name, ...]]


class TableSpec(Spec):
    """A table of results: models by datasets, each cell an aggregate of records. `metric`: what every cell
    shows; null: each dataset's own."""

    kind: Literal["results"]
    paper: str
    title: str
    caption: str
    protocol: Name
    setting: SettingName
    metric: Metric | None = None
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    composite: Composite | None = None

    @model_validator(mode="after")
    def composite_is_of_its_rows(self) -> Self:
        known = {row.dataset for row in self.rows}
        groups = self.composite.groups.values() if self.composite else ()
        strangers = sorted({dataset for group in groups for dataset in group} - known)
        if strangers:
            raise ValueError(f"the composite is of datasets that are no rows of the table: {strangers}")
        return self

    @model_validator(mode="after")
    def best_of_is_of_other_columns(self) -> Self:
        if faults := [*self._faults_of_best_of()]:
            raise ValueError("; ".join(faults))
        return self

    def _faults_of_best_of(self) -> Iterator[str]:
        direct = {column.model for column in self.columns if column.best_of is None}
        for column in self.columns:
            strangers = [model for model in column.best_of or () if model not in direct]
            if strangers:
                yield (
                    f"{column.model} is the best of {', '.join(strangers)}, which are no columns with runs; "
                    f"there are {', '.join(sorted(direct))}"
                )
            if column.best_of and column.missing:
                yield f"{column.model} has both `best_of` and `missing`; remove one"


class DatasetRow(Strict):
    """`measure`: the count that this table means for this dataset (mentions, examples ...);
    `published`: the dataset's name in the published table, where it isn't that of the spec without its
    variant; `words`: over those of the table; `why`: column -> why our value is not the published one,
    where the dataset's `conflicts` don't say it."""

    dataset: Name
    label: str
    measure: str = "examples"
    published: str | None = None
    words: dict[str, str] = {}
    why: dict[str, str] = {}
    missing: str | None = None


Fact = Annotated[
    str,
    Field(
        pattern=r"^(task|domain|metric|(count|label_bias)\.(train|dev|test)|(suites|domain|kind|task)=[a-z0-9|-]+)$"
    ),
]
"""What is shown of a dataset: `task`, `domain` and `metric` in the table's words; `count.train` in the row's
measure; `label_bias.train`; whether it is one of these: `suites=blurb`, `kind=sequence|multilabel`."""


class DatasetColumn(Strict):
    """`key`: the row of the published file; `value`: what is shown of a dataset."""

    key: str
    label: str
    value: Fact


class DatasetTableSpec(Spec):
    """A table of datasets: each cell a fact of a dataset's card or spec. `words`: ours -> the table's;
    `lists_members`: the published table names who is in a group and is silent on who isn't."""

    kind: Literal["datasets"]
    paper: str
    title: str
    caption: str
    rows: tuple[DatasetRow, ...]
    columns: tuple[DatasetColumn, ...]
    words: dict[str, str] = {}
    lists_members: bool = False

    @model_validator(mode="after")
    def names_each_row_and_column_once(self) -> Self:
        keys = [column.key for column in self.columns]
        for what, names in (("rows", [row.dataset for row in self.rows]), ("columns", keys)):
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(f"{what} stand there twice: {twice}")
        strangers = sorted({key for row in self.rows for key in row.why} - set(keys))
        if strangers:
            raise ValueError(f"`why` is of columns that the table doesn't have: {strangers}")
        return self

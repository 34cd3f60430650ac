"""Specs of tables: of results, and of what datasets are like."""

from typing import Literal, Self

from pydantic import model_validator

from pubmill.specs.base import Name, Spec, Strict


class Column(Strict):
    model: Name
    label: str
    missing: str | None = None


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
    """A table of results: models by datasets, each cell an aggregate of records."""

    kind: Literal["results"]
    paper: str
    title: str
    caption: str
    protocol: Name
    setting: Name
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


class DatasetRow(Strict):
    """`measure`: the count that this table means for this dataset (mentions, examples ...);
    `published`: the dataset's name in the published table, where it isn't that of the spec."""

    dataset: Name
    label: str
    measure: str = "examples"
    published: str | None = None
    missing: str | None = None


class DatasetColumn(Strict):
    """`key`: the row of the published file; `value`: what is shown of a dataset, as `task`, `domain`,
    `metric`, `suites.blurb`, `count.train`, `label_bias`."""

    key: str
    label: str
    value: str


class DatasetTableSpec(Spec):
    """A table of datasets: each cell a fact of a dataset's card or spec. `words`: ours -> the table's."""

    kind: Literal["datasets"]
    paper: str
    title: str
    caption: str
    rows: tuple[DatasetRow, ...]
    columns: tuple[DatasetColumn, ...]
    words: dict[str, str] = {}

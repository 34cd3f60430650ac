"""Specs of tables of results."""

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

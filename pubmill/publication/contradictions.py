"""Where the papers disagree: one model on one dataset, with different published values, and why.

Compared are the columns of a table's own setting, where that is the standard one, and metrics of one family:
papers call one thing F1, micro F1 and macro F1. Reasons are read off the specs (another form of the dataset,
another metric, median or mean), off the published files' notes (copied from another paper), and from what
the tables' specs say of other papers (`elsewhere`).
"""

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pubmill.publication.rendering import environment, escape_markdown, to_json
from pubmill.statistics.verdict_models import Aggregate, Shape
from pubmill.storage.files import read_json
from pubmill.tables.cells import Column, Composite, Row, parse
from pubmill.tables.published_values import half_unit, read_published

NO_REASON = "no reason is found in the paper"
ANY = "any"
"""The key of `elsewhere` that holds for all datasets of a table."""
FAMILY = {"entity_f1": "f1", "micro_f1": "f1", "macro_f1": "f1"}
"""Metrics that papers print under one another's names -> their family."""


class PublishedTable(Shape):
    """A table of results as far as its published values go. `metric`: the table's own, if it has one;
    `columns`: those of its own setting; `elsewhere`: paper or table -> dataset, or `any` -> why its values
    are not those there."""

    name: str
    paper: str
    number: int
    file: str
    protocol: str
    aggregate: Aggregate
    metric: str | None
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    composites: tuple[Composite, ...]
    left_out: dict[str, str]
    elsewhere: dict[str, dict[str, str]]


class ContradictionsRecipe(Shape):
    """What decides the page. `models`: their labels."""

    tables: tuple[PublishedTable, ...]
    models: dict[str, str]
    versions: dict[str, Any]


class Printed(Shape):
    """One published value, and where it stands. `dataset`: in the form that the table means."""

    table: str
    paper: str
    number: int
    protocol: str
    aggregate: Aggregate
    dataset: str
    metric: str
    value: float
    printed: str
    note: str


class Contradiction(Shape):
    """Published values of one model on one dataset (or composite) that are not equal within rounding."""

    model: str
    dataset: str
    values: tuple[Printed, ...]
    reasons: tuple[str, ...]

    @property
    def range(self) -> float:
        """Points between the highest and the lowest."""
        values = [one.value for one in self.values]
        return max(values) - min(values)

    @property
    def told(self) -> dict[str, str]:
        """Value -> where it is printed: `gu2020 Tables 6, 7; lewis2020 Table 2`."""
        places: dict[str, dict[str, list[int]]] = {}
        for one in self.values:
            places.setdefault(one.printed, {}).setdefault(one.paper, []).append(one.number)
        return {printed: "; ".join(map(_tables, found, found.values())) for printed, found in places.items()}


class Contradictions(Shape):
    """All contradictions, or those of some tables."""

    found: tuple[Contradiction, ...]

    @property
    def by_dataset(self) -> dict[str, list[Contradiction]]:
        """The contradictions of each dataset."""
        groups = itertools.groupby(self.found, key=lambda one: one.dataset)
        return {dataset: list(ones) for dataset, ones in groups}

    def of_tables(self, tables: Collection[str]) -> "Contradictions":
        """Those of which a value stands in one of these tables."""
        own = (one for one in self.found if any(value.table in tables for value in one.values))
        return Contradictions(found=tuple(own))


def _tables(paper: str, numbers: Sequence[int]) -> str:
    return f"{paper} Table{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"


Key = tuple[str, str, str]
"""Dataset without its form, or composite; model; and what is measured."""


def find_contradictions(recipe: ContradictionsRecipe, specs: Path) -> Contradictions:
    """All contradictions, by dataset and model; `specs` is the folder that published files lie in."""
    found: dict[Key, list[Printed]] = {}
    for table in recipe.tables:
        for key, printed in _printed(table, specs):
            found.setdefault(key, []).append(printed)
    tables = {table.name: table for table in recipe.tables}
    contradictory = (
        Contradiction(
            model=recipe.models.get(model, model),
            dataset=dataset,
            values=tuple(values),
            reasons=_reasons(values, tables),
        )
        for (dataset, model, _), values in sorted(found.items())
        if any(itertools.starmap(_differ, itertools.combinations(values, 2)))
    )
    return Contradictions(found=tuple(contradictory))


def read_contradictions(path: Path) -> Contradictions:
    """Read contradictions as `scripts/contradictions.py` wrote them."""
    return parse(Contradictions, read_json(path), str(path))


def _printed(table: PublishedTable, specs: Path) -> Iterator[tuple[Key, Printed]]:
    """The published values of a table's models."""
    values = read_published(specs / table.file, table.left_out)
    rows = (*table.rows, *(composite.row for composite in table.composites))
    for column, row in itertools.product(table.columns, rows):
        value = values.of(column, row)
        if value is None or column.model is None:
            continue
        # a score of several datasets is of the table's metric, whatever it is called
        measured = FAMILY.get(row.printed, row.printed) if row.dataset else f"{row.key} {table.metric}"
        yield (
            (row.published, column.model, measured),
            Printed(
                **table.model_dump(include={"paper", "number", "protocol", "aggregate"}),
                table=table.name,
                dataset=row.dataset or row.key,
                metric=row.printed,
                **value.model_dump(include={"value", "printed", "note"}),
            ),
        )


def _differ(one: Printed, other: Printed) -> bool:
    """Whether two are further apart than rounding explains."""
    return abs(one.value - other.value) > half_unit(one.printed) + half_unit(other.printed) + 1e-9


def _reasons(values: Sequence[Printed], tables: Mapping[str, PublishedTable]) -> tuple[str, ...]:
    """Why they differ, each reason once."""
    found = [
        *_distinct("forms of the dataset", (one.dataset for one in values)),
        *_distinct("metrics in print", (_metric(one) for one in values if one.metric != "f1")),
        *_distinct("over seeds", (one.aggregate for one in values)),
    ]
    for one, other in itertools.permutations(values, 2):
        if _differ(one, other):
            told = tables[one.table].elsewhere
            said = told.get(other.table) or told.get(other.paper) or {}
            found += filter(None, [said.get(one.dataset, said.get(ANY))])
    copied = [one for one in values if "copied" in one.note]
    found += [f"{_tables(one.paper, [one.number])}: {one.note}" for one in copied]
    own = (f"{one.paper} ({one.protocol})" for one in values if one not in copied)
    found += _distinct("each fine-tuned the model itself", own)
    return tuple(dict.fromkeys(found)) or (NO_REASON,)


def _metric(one: Printed) -> str:
    return one.metric.replace("_", " ").replace("f1", "F1")


def _distinct(what: str, terms: Iterable[str]) -> list[str]:
    told = list(dict.fromkeys(terms))
    return [f"{what}: {', '.join(told)}"] if len(told) > 1 else []


def to_markdown(shown: Contradictions) -> str:
    """The page for GitHub."""
    return environment(escape_markdown).get_template("contradictions.md.j2").render(shown=shown)


def to_html(shown: Contradictions) -> str:
    """A page of its own, without scripts and without anything from elsewhere."""
    return environment().get_template("contradictions.html.j2").render(shown=shown)


FORMS: dict[str, Callable[[Contradictions], str]] = {"json": to_json, "md": to_markdown, "html": to_html}

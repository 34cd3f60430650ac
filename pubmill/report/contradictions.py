"""Contradictions between papers: one model on one dataset with different published values, and the reasons.

Only columns in a table's own setting are compared, if that is the standard one, and only metrics of one
family: papers use F1, micro F1 and macro F1 for the same metric. Reasons come from the specs (another variant
of the dataset, another metric, median or mean), from notes in the published files (copied from another
paper), and from remarks on other papers in the tables' specs (`elsewhere`).
"""

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from pubmill.metrics import METRICS
from pubmill.recipes.tables import Aggregate, ContradictionsRecipe, PublishedTable
from pubmill.report.rendering import renderers
from pubmill.statistics.verdict_models import Shape
from pubmill.storage.result_paths import PAGE_FORMATS
from pubmill.tables.published_values import half_unit, published_of_cells, read_published, table_numbers

NO_REASON = "no reason is found in the paper"
ANY = "any"
"""The key of `elsewhere` that applies to all datasets of a table."""
FAMILY = {"entity_f1": "f1", "micro_f1": "f1", "macro_f1": "f1"}
"""Metric -> family; papers print the metrics of a family under each other's names."""


class Printed(Shape):
    """One published value and its source. `dataset`: in the variant that the table uses."""

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
        """The difference between the highest and the lowest value, in points."""
        values = [one.value for one in self.values]
        return max(values) - min(values)

    @property
    def sources(self) -> dict[str, str]:
        """Value -> tables where it is printed: `gu2020 Tables 6, 7; lewis2020 Table 2`."""
        places: dict[str, dict[str, list[int]]] = {}
        for one in self.values:
            places.setdefault(one.printed, {}).setdefault(one.paper, []).append(one.number)
        return {one: "; ".join(map(table_numbers, some, some.values())) for one, some in places.items()}


class Contradictions(Shape):
    """All contradictions, or those that involve some tables."""

    found: tuple[Contradiction, ...]

    @property
    def by_dataset(self) -> dict[str, list[Contradiction]]:
        """The contradictions of each dataset."""
        groups = itertools.groupby(self.found, key=lambda one: one.dataset)
        return {dataset: list(ones) for dataset, ones in groups}

    def of_tables(self, tables: Collection[str]) -> "Contradictions":
        """Select the contradictions that involve a value of one of these tables."""
        own = (one for one in self.found if any(value.table in tables for value in one.values))
        return Contradictions(found=tuple(own))


def find_contradictions(recipe: ContradictionsRecipe, specs: Path) -> Contradictions:
    """Find all contradictions, ordered by dataset and model; `specs`: the folder with the published files."""
    tables = {table.name: table for table in recipe.tables}
    # what several papers print: dataset without its variant or composite, model, family of the metric
    printed: dict[tuple[str, str, str], list[Printed]] = {}
    for table in recipe.tables:
        for key, value in _printed_values(table, specs):
            printed.setdefault(key, []).append(value)
    contradictions = []
    for (dataset, model, _), values in sorted(printed.items(), key=lambda one: one[0]):
        if any(itertools.starmap(_values_differ, itertools.combinations(values, 2))):
            label, reasons = recipe.models.get(model, model), _difference_reasons(values, tables)
            one = Contradiction(model=label, dataset=dataset, values=tuple(values), reasons=reasons)
            contradictions.append(one)
    return Contradictions(found=tuple(contradictions))


def _printed_values(table: PublishedTable, specs: Path) -> Iterator[tuple[tuple[str, str, str], Printed]]:
    """Yield the published values of a table's models, each with what identifies it in other papers."""
    rows = (*table.rows, *(composite.row for composite in table.composites))
    values = published_of_cells(table.columns, rows, read_published(specs / table.file, table.left_out))
    for column, row in itertools.product(table.columns, rows):
        if column.model and (value := values.get((column.key, row.key))):
            # a composite is identified by the table's metric, whatever it is called in print
            measured = FAMILY.get(row.printed, row.printed) if row.dataset else f"{row.key} {table.metric}"
            yield (
                (row.published, column.model, measured),
                Printed(
                    table=table.name,
                    paper=table.paper,
                    number=table.number,
                    protocol=table.protocol,
                    aggregate=table.aggregate,
                    dataset=row.dataset or row.key,
                    metric=row.printed,
                    value=value.value,
                    printed=value.printed,
                    note=value.note,
                ),
            )


def _values_differ(one: Printed, other: Printed) -> bool:
    """Return whether two values differ by more than rounding can explain."""
    return abs(one.value - other.value) > half_unit(one.printed) + half_unit(other.printed) + 1e-9


def _difference_reasons(values: Sequence[Printed], tables: Mapping[str, PublishedTable]) -> tuple[str, ...]:
    scored_by = (
        METRICS[row.metric].label
        for one in values
        for row in tables[one.table].rows
        if (row.dataset, row.printed) == (one.dataset, one.metric)
    )
    metrics = (one.metric.replace("_", " ").replace("f1", "F1") for one in values if one.metric != "f1")
    reasons = [
        *_distinct_terms("forms of the dataset", (one.dataset for one in values)),
        *_distinct_terms("metrics in print", metrics),
        *_distinct_terms("metrics of the tables here", scored_by),
        *_distinct_terms("over seeds", (one.aggregate for one in values)),
    ]
    for one, other in itertools.permutations(values, 2):
        if _values_differ(one, other):
            elsewhere = tables[one.table].elsewhere
            remarks = elsewhere.get(other.table) or elsewhere.get(other.paper) or {}
            reasons += filter(None, [remarks.get(one.dataset, remarks.get(ANY))])
    copied = [one for one in values if "copied" in one.note]
    reasons += [f"{table_numbers(one.paper, [one.number])}: {one.note}" for one in copied]
    own = (f"{one.paper} ({one.protocol})" for one in values if one not in copied)
    reasons += _distinct_terms("each fine-tuned the model itself", own)
    return tuple(dict.fromkeys(reasons)) or (NO_REASON,)


def _distinct_terms(what: str, terms: Iterable[str]) -> list[str]:
    distinct = list(dict.fromkeys(terms))
    return [f"{what}: {', '.join(distinct)}"] if len(distinct) > 1 else []


CONTRADICTION_RENDERERS = renderers("contradictions", PAGE_FORMATS, lambda page: {"contradictions": page})

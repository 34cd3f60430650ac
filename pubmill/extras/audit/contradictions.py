"""Contradictions between papers: one model on one dataset with different published values, and the reasons.

Only columns in the standard setting are compared, and only metrics of one family. Reasons come from the
specs, from notes in the published files (copied from another paper), and from `elsewhere` of the tables.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pubmill.extras.audit.audit_recipes import AuditedTable, AuditRecipe
from pubmill.metrics import METRICS
from pubmill.recipes.tables import PublishedRow
from pubmill.statistics.verdict_models import Shape
from pubmill.tables.cells import PublishedValue
from pubmill.tables.published_values import half_unit, table_numbers

FAMILY = {"entity_f1": "f1", "micro_f1": "f1", "macro_f1": "f1"}
"""Metric -> family; papers print the metrics of a family under each other's names."""


class Printed(NamedTuple):
    """One published value and its source."""

    table: AuditedTable
    row: PublishedRow
    value: PublishedValue

    def differs(self, other: "Printed") -> bool:
        """Return whether two values differ by more than rounding can explain."""
        rounding = half_unit(self.value.printed) + half_unit(other.value.printed)
        return abs(self.value.value - other.value.value) > rounding + 1e-9


class Contradiction(Shape):
    """Published values of one model on one dataset (or composite) that are not equal within rounding.
    `sources`: each value with its places, `gu2020 Tables 6, 7; lewis2020 Table 2`; `range`: in points."""

    model: str
    dataset: str
    tables: tuple[str, ...]
    sources: tuple[tuple[str, str], ...]
    range: float
    reasons: tuple[str, ...]


def find_contradictions(
    recipe: AuditRecipe, values: Mapping[str, Mapping[tuple[str, str], PublishedValue]]
) -> tuple[Contradiction, ...]:
    """Find all contradictions, ordered by dataset and model; `values`: table -> column and row -> value."""
    # what several papers print: dataset without its variant or composite, model, family of the metric
    printed: dict[tuple[str, str, str], list[Printed]] = {}
    for table in recipe.tables:
        rows = (*table.rows, *(composite.row for composite in table.composites))
        columns = [one for one in table.columns if one.standard]
        for column, row in itertools.product(columns, rows):
            if column.model and (value := values[table.name].get((column.key, row.key))):
                # a composite is identified by the table's metric, whatever it is called in print
                known = FAMILY.get(row.printed, row.printed)
                key = (row.published, column.model, known if row.dataset else f"{row.key} {table.metric}")
                printed.setdefault(key, []).append(Printed(table, row, value))
    return tuple(
        _contradiction(recipe, dataset, model, ones)
        for (dataset, model, _), ones in sorted(printed.items(), key=lambda one: one[0])
        if any(itertools.starmap(Printed.differs, itertools.combinations(ones, 2)))
    )


def _contradiction(recipe: AuditRecipe, dataset: str, model: str, ones: Sequence[Printed]) -> Contradiction:
    scores = [one.value.value for one in ones]
    places: dict[str, list[tuple[str, int]]] = {}
    for one in ones:
        places.setdefault(one.value.printed, []).append((one.table.paper, one.table.number))
    return Contradiction(
        model=recipe.models.get(model, model),
        dataset=dataset,
        tables=tuple(dict.fromkeys(one.table.name for one in ones)),
        sources=tuple((value, places_in_words(of)) for value, of in places.items()),
        range=max(scores) - min(scores),
        reasons=tuple(dict.fromkeys(_reasons(ones, recipe))) or ("no reason is found in the paper",),
    )


def _reasons(ones: Sequence[Printed], recipe: AuditRecipe) -> list[str]:
    names = [one.row.printed.replace("_", " ").replace("f1", "F1") for one in ones]
    scored_by = (METRICS[one.row.metric].label for one in ones if one.row.dataset)
    reasons = [
        *_distinct_terms("forms of the dataset", (one.row.dataset or one.row.key for one in ones)),
        *_distinct_terms("metrics in print", (name for name in names if name != "F1")),
        *_distinct_terms("metrics of the tables here", scored_by),
        *_distinct_terms("over seeds", (recipe.protocols[one.table.protocol].aggregate for one in ones)),
    ]
    for one, other in itertools.permutations(ones, 2):
        if one.differs(other):
            elsewhere = one.table.elsewhere
            remarks = elsewhere.get(other.table.name) or elsewhere.get(other.table.paper) or {}
            reasons += filter(None, [remarks.get(one.row.dataset or one.row.key, remarks.get("any"))])
    copied = [one for one in ones if "copied" in one.value.note]
    reasons += [f"{table_numbers(one.table.paper, [one.table.number])}: {one.value.note}" for one in copied]
    own = (f"{one.table.paper} ({one.table.protocol})" for one in ones if one not in copied)
    return reasons + _distinct_terms("each fine-tuned the model itself", own)


def places_in_words(tables: Iterable[tuple[str, int]]) -> str:
    """Return papers and numbers of tables in words: `gu2020 Tables 6, 7; tinn2021 Table 2`."""
    papers: dict[str, dict[int, None]] = {}
    for paper, number in tables:
        papers.setdefault(paper, {})[number] = None
    return "; ".join(map(table_numbers, papers, papers.values()))


def _distinct_terms(what: str, terms: Iterable[str]) -> list[str]:
    distinct = list(dict.fromkeys(terms))
    return [f"{what}: {', '.join(distinct)}"] if len(distinct) > 1 else []

"""Verdicts on whether published values are reproduced, by the rule that a protocol fixes in advance, and
results of one's own models beside published values."""

import itertools
from collections.abc import Mapping
from typing import Literal

from pandas import DataFrame

from pubmill.metrics import METRICS
from pubmill.recipes.tables import Column, Composite, Equivalence, Row, TableRecipe
from pubmill.statistics.equivalence import (
    Uncertainty,
    combined,
    difference_interval,
    equivalence_p,
    minimal_detectable,
    pooled_seeds_needed,
    uncertainty,
)
from pubmill.statistics.verdict_models import SeedsNeeded, Verdict
from pubmill.tables.cells import Cell, Table

Cells = Mapping[str, Mapping[str, Cell]]
"""Column -> row or composite -> cell."""


def with_verdicts(recipe: TableRecipe, cells: Cells) -> dict[str, dict[str, Cell]]:
    """Return the cells with their verdicts; None where our value or the published one is missing."""

    def verdict(column: Column, key: str, of_column: Mapping[str, Cell]) -> Verdict | None:
        difference = of_column[key].difference
        if difference is None:
            return None
        if reason := incomparable(recipe, column.key, key):
            return Verdict(verdict="not comparable", why=reason)
        if column.best_of or column.drop:
            why = "made of other columns, which have verdicts of their own"
            return Verdict(verdict="no verdict", why=why)
        rule = recipe.equivalence
        return verdict_on(difference, uncertainty_of(recipe, key, of_column), rule.margins[key].points, rule)

    return {
        column.key: {
            key: cell.model_copy(update={"verdict": verdict(column, key, cells[column.key])})
            for key, cell in cells[column.key].items()
        }
        for column in recipe.columns
    }


def incomparable(recipe: TableRecipe, column: str, key: str) -> str | None:
    """Return why our value in a cell of a row or composite must not be compared with the published one."""
    if not recipe.comparable:
        return recipe.scale_title
    parts = next((_member_weights(one) for one in recipe.composites if one.name == key), {key: 1.0})
    reasons = {row.key: row.not_comparable for row in recipe.rows}
    whys = (recipe.not_comparable.get(f"{column}/{part}") or reasons[part] for part in parts)
    return next(filter(None, whys), None)


def _member_weights(composite: Composite) -> dict[str, float]:
    groups = composite.groups.values()
    return {name: 1 / len(groups) / len(group) for group in groups for name in group}


def uncertainty_of(recipe: TableRecipe, key: str, cells: Mapping[str, Cell]) -> Uncertainty | None:
    """The uncertainty of ours minus published (of a composite, from its rows); None without a spread."""
    composite = next((one for one in recipe.composites if one.name == key), None)
    if composite is not None:
        weights = _member_weights(composite)
        parts = [(weight, uncertainty_of(recipe, name, cells)) for name, weight in weights.items()]
        known = [(weight, of) for weight, of in parts if of is not None]
        return combined(known) if len(known) == len(parts) else None
    cell = cells[key]
    if cell.spread is None:
        return None
    return uncertainty(cell.spread, cell.n, recipe.equivalence.runs[key], recipe.aggregate)


def seeds_needed(recipe: TableRecipe, runs: DataFrame) -> dict[str, SeedsNeeded]:
    """Seeds per row that resolve half a point between two fine-tuned models, where enough seeds were run.
    Each fold is a separate group, because scores differ between folds for other reasons."""
    order = {column.key: number for number, column in enumerate(recipe.columns)}
    scored = runs[~runs["supplied"] & runs["score"].notna()]
    scored = scored.sort_values("column", key=lambda keys: keys.map(order), kind="stable")
    groups = scored.groupby(["row", "column", "fold"], sort=False)["score"].agg(list)
    rule, needed = recipe.equivalence, {}
    for row, of_row in groups.groupby(level="row", sort=False):
        of = pooled_seeds_needed(list(of_row), rule.alpha, rule.power)
        if of is not None:
            needed[row] = of
    return needed


def verdict_on(difference: float, of: Uncertainty | None, margin: float, rule: Equivalence) -> Verdict:
    """Return the verdict on ours minus published; `of`: None if a cell has one run.

    `reproduced`: the two one-sided tests show that the true difference is within the margin. Otherwise
    `not reproduced` if the difference exceeds both the margin and the minimal detectable difference;
    otherwise the result is inconclusive: `within the minimal detectable difference`.
    """
    if of is None:
        return Verdict(verdict="no verdict", why="one run has no spread, so nothing can be tested")
    if of.error == 0:
        return Verdict(verdict="no verdict", why="all runs have the same score, so their spread is unknown")
    p = equivalence_p(difference, of, margin)
    detectable = minimal_detectable(of, rule.alpha, rule.power)
    beyond = abs(difference) > max(margin, detectable)
    name: Literal["reproduced", "not reproduced", "within the minimal detectable difference"]
    if p <= rule.alpha:
        name, why = "reproduced", f"a true difference of {margin:g} or more is rejected (p = {p:.2g})"
    else:
        name = "not reproduced" if beyond else "within the minimal detectable difference"
        larger, limit = max((detectable, "minimal detectable difference"), (margin, "margin"))
        why = (
            f"a true difference of {margin:g} or more is not rejected (p = {p:.2g}); the difference is "
            f"{'above' if beyond else 'not above'} the {limit}, {larger:.2f}"
        )
    return Verdict(verdict=name, why=why, margin=margin, p=p, detectable=detectable)


def own_results(recipe: TableRecipe, table: Table) -> tuple[str, ...]:
    """Return one line for each column of `recipe.own` and each shown row: its result against the highest
    published value of the row, in words; `table`: made from the recipe."""
    columns = [column for column in table.columns if column.key in recipe.own]
    lines = []
    for column, row in itertools.product(columns, table.shown_rows):
        named = f"{row.label} ({METRICS[row.metric].label})" if row.metric in METRICS else row.label
        lines.append(f"{column.label} on {named}: {_own_result(recipe, table, column, row)}")
    return tuple(lines)


def own_lines(table: Table, own: int) -> tuple[str, ...]:
    """Return these lines of a finished table with `own` columns of one's own: its notes begin with them."""
    return table.notes[: own * len(table.shown_rows)]


def _own_result(recipe: TableRecipe, table: Table, column: Column, row: Row) -> str:
    cell = table.cells[column.key][row.key]
    if cell.value is None:
        return f"no score ({cell.missing})"
    spread = "" if cell.spread is None else f" ± {cell.spread:.2f}"
    parts = "seeds" if row.dataset else "parts"
    found = f"{cell.value:.2f}{spread} ({cell.n} of {cell.expected} {parts})"
    published = [(c, p) for c in table.columns if (p := table.cells[c.key][row.key].published)]
    if not published:
        return f"{found}; no published value"
    best, value = max(published, key=lambda pair: pair[1].value)
    against = f"{found}; highest published: {value.printed} ({best.label})"
    if reason := incomparable(recipe, column.key, row.key) or incomparable(recipe, best.key, row.key):
        return f"{against}, not compared: {reason}"
    difference = cell.value - value.value
    against += f"; difference {difference:+.2f}"
    is_difference = row.metric == "difference"
    known = None if is_difference else uncertainty_of(recipe, row.key, table.cells[column.key])
    if known is None or not known.error:
        return f"{against}, untested without a spread over seeds"
    alpha = recipe.equivalence.alpha
    low, high = difference_interval(difference, known, alpha / 2)
    verdict = "higher" if low > 0 else "lower" if high < 0 else "neither higher nor lower"
    return (
        f"{against}, {100 * (1 - alpha):g} % interval {low:+.2f} to {high:+.2f} (t test "
        f"with the spread of our seeds for both): {verdict}"
    )

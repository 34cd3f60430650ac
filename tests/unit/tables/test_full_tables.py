"""The verdicts of every table of results, from made-up records at full scale."""

import math
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import pytest
from scipy import optimize, stats

from pubmill.metrics.records import Record
from pubmill.recipes.tables import Column, Row, TableRecipe
from pubmill.stages.supplied_predictions import OFF_THE_SHELF
from pubmill.tables.aggregation import build
from pubmill.tables.cells import Cell, Table
from pubmill.tables.published_values import half_unit, with_cells
from pubmill.tables.recorded_runs import record_frame, with_records
from tests import full_tables
from tests.full_tables import around, published, value_of
from tests.unit import toy_tables as made_up

TABLES = sorted(full_tables.specs().tables)
UNPUBLISHED = 80.0
CONTRADICTION = ("tinn2021/table04", "pubmedelectra-base", "qa")
"""Printed as the mean of PubMedQA and BioASQ; Table 2 has the two."""

Records = dict[str, Record]
"""Path below the results folder -> record."""


@dataclass(frozen=True)
class Story:
    """How far ours is from what is published, and the standard deviation of runs, both in margins; and what
    must then be said of a cell of five runs or more."""

    offset: float
    spread: float
    verdict: str


STORIES = {
    "equal": Story(0, 0.1, "reproduced"), "far": Story(3, 0.1, "not reproduced"),
    "scattered": Story(1.5, 4, "within the minimal detectable difference"),
    "frozen": Story(0, 0, "no verdict"),
}  # fmt: skip


@cache
def recipe(name: str) -> TableRecipe:
    return full_tables.recipe(name)


@cache
def records_of(name: str, story: Story) -> Records:
    """The records of a table: every expected run, around the published value of its cell; and those of the
    cells of other tables that it refers to."""
    found = Records()
    for known in (recipe(name), *recipe(name).others.values()):
        add_records(found, known, story)
    return found


def add_records(found: Records, known: TableRecipe, story: Story | Callable[[str], Story]) -> None:
    """Add every expected run; `story`: of all cells, or by the name of a cell."""
    rows = {row.key: row for row in known.rows}
    for column in known.columns:
        for key, paths in known.records.get(column.key, {}).items():
            row, margin = rows[key], known.equivalence.margins[key].points
            value = value_of(known.paper, column, row)
            centre = UNPUBLISHED if value is None else value
            told = story if isinstance(story, Story) else story(f"{column.key}/{key}")
            scores = around(centre + told.offset * margin, told.spread * margin, len(paths))
            for path, score in zip(paths, scores, strict=True):
                one = run(path, row, score)
                shared = found[path].metrics or {} if path in found else {}
                found[path] = one.model_copy(update={"metrics": (one.metrics or {}) | shared})


@cache
def owners(name: str) -> dict[str, tuple[str, str]]:
    """Path of a record -> column and row of the first cell that shows it, around whose value it scores."""
    found: dict[str, tuple[str, str]] = {}
    for column in recipe(name).columns:
        for key, paths in recipe(name).records.get(column.key, {}).items():
            for path in paths:
                found.setdefault(path, (column.key, key))
    return found


def run(path: str, row: Row, score: float) -> Record:
    _, protocol, model, dataset, setting, _, file = path.split("/")
    seed = int(file.removeprefix("seed-").removesuffix(".json"))
    place = {"protocol": protocol, "setting": setting, "scale": "full"}
    known = made_up.statement(model) if protocol == OFF_THE_SHELF else {}
    return made_up.record(model, dataset, seed, 0.5, **place, metrics={row.metric: score / 100}, recipe=known)


def table(name: str, records: Records, **changes: Any) -> Table:
    made, frame = replace(recipe(name), **changes), record_frame(records.items())
    others = {
        other: build(part, with_cells(part, published(other)), with_records(part, frame))
        for other, part in made.others.items()
    }
    return build(made, published(name), with_records(made, frame), others)


@cache
def story_table(name: str, story: str) -> Table:
    return table(name, records_of(name, STORIES[story]))


def expected(known: TableRecipe, column: Column, key: str, found: dict[str, Cell]) -> str | None:
    """The verdict by the rule as docs/verdicts.md has it, with other means than the package's."""
    composite = next((one for one in known.composites if one.name == key), None)
    rows = {row.key: row for row in known.rows}
    groups = composite.groups.values() if composite else [(key,)]
    weights = {name: 1 / len(groups) / len(group) for group in groups for name in group}
    cell = found[key]
    if cell.value is None or cell.published is None:
        return None
    if any(rows[name].not_comparable or f"{column.key}/{name}" in known.not_comparable for name in weights):
        return "not comparable"
    if any(found[name].n < 2 or not found[name].spread for name in weights) or not column.model:
        return "no verdict"
    factor = math.sqrt(math.pi / 2) if known.aggregate == "median" else 1.0
    parts = []
    for name, weight in weights.items():
        part, behind = found[name], known.equivalence.runs[name]
        assert part.spread is not None
        parts.append(((weight * factor * part.spread) ** 2 * (1 / part.n + 1 / behind), part.n - 1))
    variance = sum(one for one, _ in parts)
    freedom = variance**2 / sum(one**2 / of for one, of in parts)
    error, gap = math.sqrt(variance), abs(cell.value - cell.published.value)
    margin = known.equivalence.margins[key].points
    if stats.t.sf((margin - gap) / error, freedom) <= 0.05:
        return "reproduced"
    beyond = gap > max(margin, error * detectable(round(freedom, 6)))
    return "not reproduced" if beyond else "within the minimal detectable difference"


def each_with(values: Collection[Any]) -> list[Any]:
    """Return every table with every value; without the weekly ones, each table with one."""
    weekly = (pytest.mark.long, pytest.mark.weekly)
    return [
        pytest.param(name, value, marks=() if place == number % len(values) else weekly)
        for number, name in enumerate(TABLES)
        for place, value in enumerate(values)
    ]


@cache
def detectable(freedom: float) -> float:
    """In standard errors, by the non-central t distribution."""
    critical = stats.t.ppf(0.975, freedom)

    def short(shift: float) -> float:
        found = stats.nct.sf(critical, freedom, shift) + stats.nct.cdf(-critical, freedom, shift)
        return float(found) - 0.8

    return float(optimize.brentq(short, 1, 6))


@pytest.mark.parametrize(("name", "story"), each_with(STORIES))
def test_every_cell_and_composite_has_its_verdict(name: str, story: str) -> None:
    known, made = recipe(name), story_table(name, story)
    differences = {one.name for one in known.differences}
    for row, column, cell in made.read():
        if row.key in differences:
            continue
        wanted = expected(known, column, row.key, made.cells[column.key])
        assert (cell.verdict and cell.verdict.verdict) == wanted, (column.key, row.key)
        plain = row.dataset and cell.published and cell.n >= 5 and wanted != "not comparable"
        if plain and cell.seeds and owners(name)[cell.seeds[0].record] == (column.key, row.key):
            assert wanted == STORIES[story].verdict, (column.key, row.key)
        if wanted is None:
            assert cell.missing or not cell.published, (column.key, row.key)


def test_copied_values_are_those_of_their_origin_but_for_the_noted_ones() -> None:
    name, others = "alrowili2021/table02", set()
    made = table(name, {})
    for row, column, cell in made.read():
        if cell.copied_from:
            own, origin = cell.published, cell.copied_from.cell.published
            assert own and origin
            if abs(own.value - origin.value) > half_unit(own.printed) + half_unit(origin.printed) + 1e-9:
                assert "gu2020 here has" in own.note
                others.add(f"{column.key}/{row.key}")
    assert others == {"biobert-base/bc5-chem", "pubmedbert-base/ncbi-disease"}


def test_most_cells_are_tested_so() -> None:
    """So that the test above is of something."""
    found = Counter(
        cell.verdict.verdict
        for name in TABLES
        for *_, cell in story_table(name, "equal").read()
        if cell.verdict
    )
    assert found["reproduced"] > 950
    assert found["not comparable"] < found["reproduced"] / 4  # such as lewis2020's HoC and the means with it


@pytest.mark.parametrize("name", TABLES)
def test_at_another_scale_nothing_is_comparable(name: str) -> None:
    made = table(name, records_of(name, STORIES["equal"]), comparable=False, scale_title="small scale")
    verdicts = [cell.verdict for *_, cell in made.read() if cell.verdict]
    expected = {("not comparable", "small scale")} if len(published(name)) else set()
    assert {(one.verdict, one.why) for one in verdicts} == expected
    assert made.heading.endswith("(small scale)")


@pytest.mark.parametrize("name", TABLES)
def test_each_published_value_has_one_cell_and_composites_follow_from_the_papers_numbers(name: str) -> None:
    """`build` refuses a table that loses one."""
    known, made = recipe(name), story_table(name, "equal")
    assert sum(cell.published is not None for *_, cell in made.read()) == published(name)["value"].count()
    rows = {row.key: row for row in known.rows}
    for column in known.columns:
        for one in known.composites:
            cell, parts = (
                made.cells[column.key][one.name], [rows[key] for key in sum(one.groups.values(), ())],
            )  # fmt: skip
            if cell.published is None or cell.value is None:
                continue
            if any(value_of(known.paper, column, row) is None for row in parts):
                continue
            if (name, column.key, one.name) == CONTRADICTION:
                assert (cell.published.value, round(cell.value, 3)) == (77.0, 76.945)
                continue
            assert abs(cell.value - cell.published.value) <= 2.02 * half_unit(cell.published.printed), column
            assert cell.published.recomputed is None


def spot(name: str) -> tuple[str, str]:
    """The column and row of the first cell of several runs."""
    records = recipe(name).records
    return next((c, r) for c, rows in records.items() for r, paths in rows.items() if len(paths) > 1)


@pytest.mark.parametrize(("name", "failed"), each_with([True, False]))
def test_a_run_without_score_leaves_its_cell_and_composites_empty(name: str, failed: bool) -> None:
    """A failed seed, or one without record: it is named, and all other cells are as before."""
    records, (column, row) = dict(records_of(name, STORIES["equal"])), spot(name)
    before, known = story_table(name, "equal"), recipe(name)
    runs = known.records[column][row]
    one = records.pop(runs[-1])
    if failed:
        changes = {"metrics": None, "counts": None, "failed": "nan"}
        records[runs[-1]] = one.model_copy(update=changes)
    made = table(name, records)
    folds = next(found.folds for found in known.rows if found.key == row)
    cell, seed = made.cells[column][row], f"{one.dataset} {one.seed}" if folds else one.seed
    why = "failed, nan" if failed else "no record"
    aggregate = known.aggregate
    assert cell.missing == f"no {aggregate}: {len(runs) - 1} of {len(runs)} seeds ({why}: seed {seed})"
    assert (cell.value, cell.difference, cell.verdict) == (None, None, None)
    touched = {key for key, paths in known.records[column].items() if runs[-1] in paths}
    touched |= {one.name for one in known.composites if touched & set(sum(one.groups.values(), ()))}
    touched |= {one.name for one in known.differences if one.of in touched}
    for key, other in made.cells[column].items():
        assert (other.value is None) if key in touched else (other == before.cells[column][key]), key
    assert (made.provenance.failed > 0) == failed

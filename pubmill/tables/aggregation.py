"""Build tables of results: aggregate runs and published values into cells, and read both from files.

A cell has a value only if all its expected runs have a score; `without_collapsed` averages over fewer.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, median, stdev
from types import MappingProxyType
from typing import Any

from pandas import DataFrame, Series, isna

from pubmill.errors import PubmillError
from pubmill.recipes.tables import (
    NOT_RUN,
    Aggregate,
    Composite,
    Difference,
    ReferencedCell,
    ResultHeading,
    TableRecipe,
    values_of,
)
from pubmill.statistics.equivalence import combined
from pubmill.statistics.verdict_models import Verdict
from pubmill.tables.cells import (
    NO_RECORD,
    Cell,
    OtherCell,
    Provenance,
    PublishedValue,
    SeedScore,
    Table,
    make_cell,
)
from pubmill.tables.published_values import (
    half_unit,
    lost_values,
    marked_unless_following,
    notes_on_missing,
    published_of_cells,
    read_published,
    with_cells,
    with_recomputed,
)
from pubmill.tables.recorded_runs import CELL, load_runs, refuse_mixtures, without_unlike
from pubmill.tables.verdicts import (
    Cells,
    incomparable,
    own_results,
    seeds_needed,
    uncertainty_of,
    verdict_on,
    with_verdicts,
)

AGGREGATES: dict[Aggregate, Callable[[Series], float]] = {"mean": fmean, "median": median}

CellKey = tuple[str, str]
"""Keys of a cell's column and row."""
PublishedCells = Mapping[CellKey, PublishedValue]


def build(
    recipe: TableRecipe,
    published: DataFrame,
    runs: DataFrame,
    others: Mapping[str, Table] = MappingProxyType({}),
) -> Table:
    """Build the table with composites and provenance. `others`: the tables that its cells refer to."""
    recipe, runs = without_unlike(recipe, runs)
    refuse_mixtures(runs)
    if lost := lost_values(recipe, published):
        raise PubmillError("\n".join(lost))
    shown = published_of_cells(recipe.columns, recipe.all_rows, published)
    cells = _build_cells(recipe, runs, shown)
    for column, of_column in cells.items():
        printed = {row.key: shown.get((column, row.key)) for row in recipe.rows}
        for one in recipe.composites:
            value = with_recomputed(one, shown.get((column, one.name)), printed)
            of_column[one.name] = composite_cell(one, of_column, value)
    cells = with_references(recipe, with_verdicts(recipe, cells), shown, others)
    return Table(
        **values_of(ResultHeading, recipe),
        composites=recipe.all_rows[len(recipe.rows) :],
        cells=cells,
        silences=notes_on_missing(recipe, published),
        seeds_needed=seeds_needed(recipe, runs),
        provenance=provenance(runs),
    )


def finished_table(recipe: TableRecipe, published: Path, results: Path) -> Table:
    """Return a table from the file of its published values and the records below a results folder. The files
    of the tables that it refers to are found from its own (PAPER/tableNN.published.csv)."""
    others = {}
    for name, other in recipe.others.items():
        values = read_published(published.parents[1] / f"{name}.published.csv", other.left_out)
        others[name] = build(other, with_cells(other, values), load_runs(other, results))
    values = read_published(published, recipe.left_out)
    if recipe.own:
        values, recipe = with_cells(recipe, values), replace(recipe, left_out={})
    made = build(recipe, values, load_runs(recipe, results), others)
    return replace(made, notes=(*own_results(recipe, made), *made.notes))


def aggregated(runs: DataFrame, aggregate: Aggregate) -> DataFrame:
    """Aggregate runs into cells, indexed by column and row.

    - `n`, `expected`: number of runs with a score, and of all.
    - `value`, `spread`: mean or median, and sample standard deviation; NaN unless all runs have a score.
    - `without_collapsed`: the value without collapsed runs; NaN if none or all of the runs collapsed.
    - `missing`: why there is no value; NaN if there is one.
    """
    scores = runs.groupby(CELL, sort=False)["score"]
    kept = runs[~runs["collapsed"]].groupby(CELL, sort=False)["score"]
    cells = scores.agg(
        n="count",
        expected="size",
        value=lambda values: AGGREGATES[aggregate](values) if values.notna().all() else float("nan"),
        spread=lambda values: stdev(values) if len(values) > 1 and values.notna().all() else float("nan"),
    )
    partly = cells["value"].notna() & (kept.size().reindex(cells.index) < cells["expected"])
    cells["without_collapsed"] = kept.agg(AGGREGATES[aggregate]).reindex(cells.index).where(partly)
    failed = runs[runs["failed"].notna()]
    names = (failed["fold"] + " " + failed["seed"].astype(str)).str.strip()
    seeds = names.groupby([*(failed[key] for key in CELL), failed["failed"]], sort=False).agg(", ".join)
    causes = seeds.index.get_level_values("failed")
    said = ("failed, " + causes).where(causes != NO_RECORD, NO_RECORD) + ": seed " + seeds
    failures = said.groupby(level=CELL, sort=False).agg("; ".join)  # `failed, nan: seed 2, 3`
    counts = cells["n"].astype(str) + " of " + cells["expected"].astype(str)
    cells["missing"] = f"no {aggregate}: " + counts + " seeds (" + failures.reindex(cells.index) + ")"
    return cells


def _build_cells(
    recipe: TableRecipe, runs: DataFrame, published: PublishedCells
) -> dict[str, dict[str, Cell]]:
    """Build the cells of all columns; those with runs first, because the others are computed from them."""
    cells: dict[str, dict[str, Cell]] = {}
    columns = {column.key: column for column in recipe.columns}
    made = cells_of_runs(runs, recipe.aggregate, published)
    for column in sorted(recipe.columns, key=lambda column: bool(column.best_of or column.drop)):
        cells[column.key] = of_column = {}
        for row in recipe.rows:
            key = column.key, row.key
            value = published.get(key)
            others = {name: (columns[name].label, cells[name][row.key]) for name in column.sources}
            if column.best_of:
                of_column[row.key] = cell_of_columns(BEST, [others[name] for name in column.sources], value)
            elif column.drop:
                parts = [others[name] for name in (column.drop.start, *column.drop.of)]
                of_column[row.key] = cell_of_columns(DROP, parts, value)
            else:
                reasons = (recipe.missing.get(name) for name in ("/".join(key), *key))
                why = next(filter(None, reasons), NOT_RUN)
                empty = make_cell(value, None, n=0, expected=0, missing=why)
                of_column[row.key] = made.get(key) or empty
    return cells


def cells_of_runs(runs: DataFrame, aggregate: Aggregate, published: PublishedCells) -> dict[CellKey, Cell]:
    """Build the cells that have runs."""
    lines = runs[["seed", "score", "failed", "fold", "path", "seconds", "collapsed", "asked"]]
    lines = lines.rename(columns={"score": "value", "path": "record"})
    seeds: dict[CellKey, list[SeedScore]] = {}
    for cell, line in zip(runs[CELL].itertuples(False, None), lines.to_dict("records"), strict=True):
        seeds.setdefault(cell, []).append(SeedScore(**_without_nan(line)))
    return {
        key: make_cell(published.get(key), seeds=tuple(seeds[key]), **_without_nan(line))
        for key, line in aggregated(runs, aggregate).to_dict("index").items()
    }


def _without_nan(line: Mapping[Hashable, Any]) -> dict[str, Any]:
    return {str(name): None if isna(value) else value for name, value in line.items()}


def composite_cell(composite: Composite, cells: Mapping[str, Cell], published: PublishedValue | None) -> Cell:
    """The cell of a composite: the mean over groups of group means; None unless all datasets are complete."""
    values = {name: cells[name].value for group in composite.groups.values() for name in group}
    known = {name: value for name, value in values.items() if value is not None}
    n, expected = len(known), len(values)
    missing = None if n == expected else f"no composite: not all of its {expected} datasets have a score"
    value = None if missing else composite.mean(known)
    return make_cell(published, value, n=n, expected=expected, missing=missing)


BEST, DROP = "best", "drop"


def cell_of_columns(what: str, parts: Sequence[tuple[str, Cell]], published: PublishedValue | None) -> Cell:
    """The cell made of other columns' cells (given with labels): the best value, or the drop, which is the
    lowest value of the later ones minus the first. It has no value unless all have one."""
    values = [cell.value for _, cell in parts if cell.value is not None]
    lacking = [label for label, cell in parts if cell.value is None]
    missing = f"no {what}: no score of {' and '.join(lacking)}" if lacking else None
    made = None if lacking else max(values) if what == BEST else min(values[1:]) - values[0]
    return make_cell(published, made, n=len(values), expected=len(parts), missing=missing)


def provenance(runs: DataFrame) -> Provenance:
    """Summarise how records were made, each distinct value once."""
    known = runs[runs["recorded"]]
    trained, supplied = known[~known["supplied"]], known[known["supplied"]]
    of_runs = [item for versions in known["packages"] for item in versions.items()]
    packages = DataFrame(of_runs, columns=["name", "version"])
    systems = supplied["recipe"].map(_system_identity).astype("str")
    return Provenance(
        runs=len(trained),
        failed=int(trained["failed"].notna().sum()),
        seconds=sum(trained["seconds"]),  # one after the other: the last bits depend on the order
        commits=_distinct_values(known["commit"].dropna()),
        packages=packages["version"].groupby(packages["name"]).agg(_distinct_values).to_dict(),
        hardware=_distinct_values(known["hardware"].map(machine)),
        systems=systems.groupby(supplied["model"]).agg(_distinct_values).to_dict(),
    )


def _distinct_values(values: Series) -> tuple[str, ...]:
    return tuple(sorted(values.unique()))


def _system_identity(recipe: Mapping[str, Any]) -> str:
    """Return the stated name, version and source of the system that predicted."""
    system = recipe["system"]
    where = system["url"] or "by its prompt"
    return f"{system['name']} {system['version']}, not fine-tuned here ({where})"


def machine(hardware: Mapping[str, object]) -> str:
    """Return a line for a machine described by `pubmill.hardware.provenance`: its GPUs, or its processor."""
    gpus = hardware.get("gpus")
    if isinstance(gpus, list) and gpus:
        return ", ".join(f"{gpus.count(gpu)} x {gpu}" for gpu in dict.fromkeys(gpus))
    return f"{hardware.get('cpu', 'unknown')}, {hardware.get('cores', '?')} cores"


NO_OTHER = "no difference: the paper prints none"


def with_references(
    recipe: TableRecipe,
    cells: Cells,
    published: Mapping[tuple[str, str], PublishedValue],
    others: Mapping[str, Table],
) -> dict[str, dict[str, Cell]]:
    """Return the cells with the origins of copied values, and with the differences to other tables."""
    made: dict[str, dict[str, Cell]] = {}
    for column, rows in cells.items():
        made[column] = of_column = dict(rows)
        for row, cell in rows.items():
            if origin := recipe.copied.get(f"{column}/{row}"):
                of_column[row] = cell.model_copy(update={"copied_from": _other_cell(origin, others)})
        for one in recipe.differences:
            value = published.get((column, one.name))
            of_column[one.name] = _difference(recipe, one, column, rows, value, others)
    return made


def _other_cell(reference: ReferencedCell, others: Mapping[str, Table]) -> OtherCell:
    table = others[reference.table]
    columns = {one.key: one.label for one in table.columns}
    rows = {one.key: one.label for one in (*table.rows, *table.composites)}
    return OtherCell(
        table=reference.table,
        column=columns[reference.column],
        row=rows[reference.row],
        linked=reference.linked,
        cell=table.cells[reference.column][reference.row],
    )


def _difference(
    recipe: TableRecipe,
    difference: Difference,
    column: str,
    cells: Mapping[str, Cell],
    published: PublishedValue | None,
    others: Mapping[str, Table],
) -> Cell:
    """Return a cell minus one of another table, with its verdict."""
    reference = difference.minus.get(column)
    if reference is None:
        return make_cell(published, None, n=0, expected=0, missing=NO_OTHER)
    own, other = cells[difference.of], _other_cell(reference, others)
    if published and (one := own.published) and (minus := other.cell.published):
        slack = half_unit(one.printed) + half_unit(minus.printed)
        published = marked_unless_following(published, one.value - minus.value, slack)
    label = next(one.label for one in recipe.all_rows if one.key == difference.of)
    place = f"{other.column} in {other.title} ({other.cell.missing})" if other.cell.missing else other.title
    parts = {label: own.value, place: other.cell.value}
    lacking = [name for name, value in parts.items() if value is None]
    value = None if own.value is None or other.cell.value is None else own.value - other.cell.value
    missing = f"no difference: no score of {' and '.join(lacking)}" if lacking else None
    n, expected = len(parts) - len(lacking), len(parts)
    made = make_cell(published, value, n=n, expected=expected, missing=missing, minus=other)
    if made.difference is None:
        return made
    parent = recipe.others[reference.table]
    if reason := (
        incomparable(recipe, column, difference.of) or incomparable(parent, reference.column, reference.row)
    ):
        return made.model_copy(update={"verdict": Verdict(verdict="not comparable", why=reason)})
    error = uncertainty_of(recipe, difference.of, cells)
    other_error = uncertainty_of(parent, reference.row, others[reference.table].cells[reference.column])
    # the runs of the two cells are independent
    of = combined([(1.0, error), (1.0, other_error)]) if error and other_error else None
    rule = recipe.equivalence
    verdict = verdict_on(made.difference, of, rule.margins[difference.name].points, rule)
    return made.model_copy(update={"verdict": verdict})

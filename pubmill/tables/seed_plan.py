"""Which runs of a study to make next, by what its finished runs decide (`pubmill.statistics.seed_stopping`).

The models of a row of a table are compared with each other by their scores on the same seeds. Runs are taken
in the order of their seeds, up to the first that has no record by the current recipes. Finished pipelines and
rows of several folds are left out, and so are models with a failed run, which has no score.
"""

from collections.abc import Callable, Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from pubmill.errors import PubmillError
from pubmill.metrics.records import Record, read_record
from pubmill.recipes.finetuning import FIRST_SEEDS
from pubmill.recipes.tables import Row, TableRecipe
from pubmill.statistics.seed_stopping import PairState, next_runs, pair_states
from pubmill.storage.names_in_paths import run_of
from pubmill.tables.overlap_text import aligned

Run = tuple[str, str, str, str]
"""Protocol, model, dataset, setting."""


class RowPlan(NamedTuple):
    """The state of one row. `made` of `most` runs exist; `pairs`: what they decide; `batch`: records to make
    next, below the results folder; `failed`: models with a failed run."""

    table: str
    row: str
    made: int
    most: int
    pairs: list[PairState]
    batch: tuple[str, ...]
    failed: tuple[str, ...]


def row_plans(recipe: TableRecipe, results: Path, is_current: Callable[[str], bool]) -> list[RowPlan]:
    """Plan the next runs of every row of a table that is compared by seeds.

    `is_current`: whether the record at a path below the results is there and made by the current recipes.
    """
    found = (_row_plan(recipe, row, results, is_current) for row in recipe.rows)
    return [one for one in found if one]


def seed_counts(recipe: TableRecipe, results: Path, is_current: Callable[[str], bool]) -> dict[Run, int]:
    """Return how many seeds of each run of a table to make now: those that are finished, and those of the
    next batch; all where there is no second model to compare with."""
    rows = {row.key: _row_plan(recipe, row, results, is_current) for row in recipe.rows}
    counts: dict[Run, int] = {}
    for of_rows in recipe.record_paths.values():
        for row, paths in of_rows.items():
            plan = rows[row]
            made = sum(1 for _ in takewhile(is_current, paths))
            wanted = made + any(path in plan.batch for path in paths) if plan else len(paths)
            counts[run_of(paths[0])[:4]] = min(max(wanted, FIRST_SEEDS), len(paths))
    return counts


def _row_plan(
    recipe: TableRecipe, row: Row, results: Path, is_current: Callable[[str], bool]
) -> RowPlan | None:
    """Plan the next runs of a row; None if it is not compared by seeds: if it is hidden, of several folds, or
    has fewer than two models with several seeds."""
    paths = {
        column.label: recipe.record_paths.get(column.key, {}).get(row.key, ())
        for column in recipe.columns
        if not column.pipeline
    }
    paths = {label: of_model for label, of_model in paths.items() if len(of_model) > 1}
    if len(paths) < 2 or row.folds or not row.shown:
        return None
    records = {
        label: [read_record(results / path) for path in takewhile(is_current, of_model)]
        for label, of_model in paths.items()
    }
    failed = tuple(label for label, of_model in records.items() if any(one.failed for one in of_model))
    scores = {
        label: [_score(one, row) for one in of_model]
        for label, of_model in records.items()
        if label not in failed
    }
    most = min(len(paths[label]) for label in scores) if scores else 0
    items = _items([one for of_model in records.values() for one in of_model])
    return RowPlan(
        table=f"{recipe.paper}/{recipe.table}",
        row=row.label,
        made=sum(map(len, records.values())),
        most=sum(map(len, paths.values())),
        pairs=pair_states(scores, most, items),
        batch=tuple(paths[label][len(scores[label])] for label in next_runs(scores, most, items)),
        failed=failed,
    )


def _score(record: Record, row: Row) -> float:
    if record.metrics is None or row.metric not in record.metrics:
        raise PubmillError(
            f"the record of {record.model} on {record.dataset}, seed {record.seed}, has no {row.metric}; "
            "score it again (remove it)"
        )
    return record.metrics[row.metric]


def _items(records: Sequence[Record]) -> int:
    """Return the number of scored items (1 before any run): gold items where counted, else examples."""
    return min((_items_of(one) for one in records if one.metrics is not None), default=1)


def _items_of(record: Record) -> int:
    counts = record.counts or {}
    if items := counts.get("gold") or counts.get("examples"):
        return items
    raise PubmillError(
        f"the record of {record.model} on {record.dataset}, seed {record.seed}, has no number of scored "
        "examples; score it again (remove it)"
    )


PAIRS = ("pair", "difference", "p", "state")


def as_text(plans: Sequence[RowPlan]) -> str:
    """Return the plans as text, and the batch of runs to make next."""
    parts = [_row_text(one) for one in plans]
    batch = list(dict.fromkeys(path for one in plans for path in one.batch))
    parts.append("\n".join([f"next batch: {len(batch)} runs", *batch]) if batch else "nothing more to run")
    return "\n\n".join(parts)


def _row_text(plan: RowPlan) -> str:
    lines = aligned([PAIRS, *map(_pair_line, plan.pairs)]) if plan.pairs else []
    failed = [f"left out for a failed run: {', '.join(plan.failed)}"] if plan.failed else []
    return "\n".join([f"{plan.table}, {plan.row}: {plan.made} of {plan.most} runs", *lines, *failed])


def _pair_line(one: PairState) -> tuple[str, ...]:
    upper, lower = (one.first, one.second) if one.difference >= 0 else (one.second, one.first)
    state = "decided" if one.decided else "open" if one.open else "not decidable by the last seed"
    return f"{upper} > {lower}", f"{100 * abs(one.difference):.2f}", f"{one.p:.3f}", state

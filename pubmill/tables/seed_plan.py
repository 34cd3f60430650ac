"""Which runs of a study to make next, by what its finished runs decide: on the scored documents
(`pubmill.statistics.seed_stopping`), and on others of the kind (`pubmill.statistics.document_evidence`).

The models of a row of a table are compared with each other by their scores on the same seeds. Runs are taken
in the order of their seeds, up to the first that has no record by the current recipes. Finished pipelines and
rows of several folds are left out, and so are models with a failed run, which has no score.
"""

from collections.abc import Callable, Sequence
from itertools import chain, takewhile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pubmill.errors import PubmillError
from pubmill.messages.wording import aligned, counted
from pubmill.metrics import METRICS
from pubmill.metrics.records import Record, read_record
from pubmill.recipes.finetuning import FIRST_SEEDS
from pubmill.recipes.tables import Row, TableRecipe
from pubmill.statistics.document_evidence import document_states, scores_without_units
from pubmill.statistics.seed_stopping import PairState, next_models, pair_states
from pubmill.storage.names_in_paths import run_of
from pubmill.storage.result_paths import RunKey
from pubmill.tables.comparisons import read_contributions


class RowPlan(NamedTuple):
    """The state of one row. `made` of `most` runs exist; `pairs`: what they decide; `batch`: records to make
    next, below the results folder; `failed`: models with a failed run; `documents`: what the runs decide on
    other documents, if that was asked for and there are any runs."""

    table: str
    row: str
    made: int
    most: int
    pairs: list[PairState]
    batch: tuple[str, ...]
    failed: tuple[str, ...]
    documents: "OtherDocuments | None" = None


class OtherDocuments(NamedTuple):
    """The states of pairs on other documents. `units`: number of scored ones; `unit`: `document`, ..."""

    pairs: list[PairState]
    unit: str
    units: int


class _Runs(NamedTuple):
    """Finished runs of a row. `made`: their number; `paths`: all records of each model; `scores`: of the
    finished runs, without models with a `failed` run; `items`: fewest scored items of a run, at first 1."""

    made: int
    paths: dict[str, tuple[str, ...]]
    scores: dict[str, list[float]]
    failed: tuple[str, ...]
    items: int

    @property
    def most(self) -> int:
        """Number of seeds that all models will have."""
        return min((len(self.paths[label]) for label in self.scores), default=0)


def row_plans(
    recipe: TableRecipe, results: Path, is_current: Callable[[str], bool], for_documents: bool = False
) -> list[RowPlan]:
    """Plan the next runs of every row of a table that is compared by seeds.

    `is_current`: whether the record at a path below the results is there and made by the current recipes;
    `for_documents`: whether the next runs are those that may decide pairs on other documents.
    """
    plans = []
    for row in recipe.rows:
        if (runs := _runs(recipe, row, results, is_current)) is not None:
            documents = _other_documents(runs, row, results)
            plan = _row_plan(recipe, row, runs, documents if for_documents else None)
            plans.append(plan._replace(documents=documents))
    return plans


def seed_counts(recipe: TableRecipe, results: Path, is_current: Callable[[str], bool]) -> dict[RunKey, int]:
    """Return the number of seeds of each run to have now: the finished ones and those of the next batch, at
    least `FIRST_SEEDS`; all seeds where there is no second model to compare with."""
    finished = {row.key: (row, _runs(recipe, row, results, is_current)) for row in recipe.rows}
    rows = {key: runs and _row_plan(recipe, row, runs) for key, (row, runs) in finished.items()}
    counts: dict[RunKey, int] = {}
    for of_rows in recipe.records.values():
        for row, paths in of_rows.items():
            plan = rows[row]
            made = sum(1 for _ in takewhile(is_current, paths))
            wanted = made + any(path in plan.batch for path in paths) if plan else len(paths)
            counts[run_of(paths[0]).run] = min(max(wanted, FIRST_SEEDS), len(paths))
    return counts


def _runs(recipe: TableRecipe, row: Row, results: Path, is_current: Callable[[str], bool]) -> _Runs | None:
    """Return the finished runs of a row; None if it is not compared by seeds: if it is hidden, of several
    folds, or has fewer than two models with several seeds."""
    trained = [column for column in recipe.columns if not column.pipeline]
    paths = {one.label: tuple(recipe.records.get(one.key, {}).get(row.key, ())) for one in trained}
    paths = {label: of_model for label, of_model in paths.items() if len(of_model) > 1}
    if len(paths) < 2 or row.folds or not row.shown:
        return None
    records = {
        label: [read_record(results / path) for path in takewhile(is_current, of_model)]
        for label, of_model in paths.items()
    }
    failed = tuple(label for label, of_model in records.items() if any(one.failed for one in of_model))
    whole = {label: of_model for label, of_model in records.items() if label not in failed}
    scores = {label: [_score(one, row) for one in of_model] for label, of_model in whole.items()}
    made = [one for of_model in records.values() for one in of_model]
    items = min((_items_of(one) for one in made if one.metrics is not None), default=1)
    return _Runs(len(made), paths, scores, failed, items)


def _row_plan(recipe: TableRecipe, row: Row, runs: _Runs, documents: OtherDocuments | None = None) -> RowPlan:
    """Plan the next runs of a row: those that may decide pairs on other documents, if these states are given,
    else those that may decide them on the scored documents."""
    pairs = pair_states(runs.scores, runs.most, runs.items)
    wanted = next_models(runs.scores, documents.pairs if documents else pairs, runs.most)
    return RowPlan(
        table=f"{recipe.paper}/{recipe.table}",
        row=row.label,
        made=runs.made,
        most=sum(map(len, runs.paths.values())),
        pairs=pairs,
        batch=tuple(runs.paths[label][len(runs.scores[label])] for label in wanted),
        failed=runs.failed,
    )


def _other_documents(runs: _Runs, row: Row, results: Path) -> OtherDocuments | None:
    """Return what a row's runs decide on other documents; None before the first run, or with one document."""
    records = {label: runs.paths[label][: len(scores)] for label, scores in runs.scores.items()}
    paths = [path for of_model in records.values() for path in of_model]
    if not paths:
        return None
    metric = METRICS[row.metric].function
    read, unit = read_contributions(paths, metric, results)
    units = len(read[paths[0]].values)
    if units < 2:
        return None
    without = {
        label: np.array([scores_without_units(read[path], metric) for path in of_model]).reshape(-1, units)
        for label, of_model in records.items()
    }
    return OtherDocuments(document_states(runs.scores, without, runs.most, runs.items), unit, units)


def _score(record: Record, row: Row) -> float:
    if record.metrics is None or row.metric not in record.metrics:
        raise _lacking(record, row.metric)
    return record.metrics[row.metric]


def _items_of(record: Record) -> int:
    """Return the number of scored items: gold items where counted, else examples."""
    counts = record.counts or {}
    if items := counts.get("gold") or counts.get("examples"):
        return items
    raise _lacking(record, "number of scored examples")


def _lacking(record: Record, what: str) -> PubmillError:
    run = f"{record.model} on {record.dataset}, seed {record.seed}"
    return PubmillError(f"the record of {run}, has no {what}; score it again (remove it)")


PAIRS = ("pair", "difference", "p", "state")
ON_OTHERS = "  on other documents"
MEANING = """\
p and state: whether the means over seeds differ on the scored documents, and
below whether they would on other documents of the kind; not decidable: not by
the last seed. Each answer is wrong for any pair in at most 5 % of rows,
however often you look."""


def as_text(plans: Sequence[RowPlan]) -> str:
    """Return the plans as text, what their states mean, and the batch of runs to make next. Before the first
    run that is one line: no pair has a state yet."""
    batch = list(dict.fromkeys(path for one in plans for path in one.batch))
    if batch and not any(one.made for one in plans):
        return f"no runs yet of {counted(len(plans), 'row')}; the first batch is {counted(len(batch), 'run')}"
    parts = [_row_text(one) for one in plans]
    parts += [MEANING] if any(one.documents for one in plans) else []
    parts.append("\n".join([f"next batch: {len(batch)} runs", *batch]) if batch else "nothing more to run")
    return "\n\n".join(parts)


def _row_text(plan: RowPlan) -> str:
    scored = f", {plan.documents.units} {plan.documents.unit}s" if plan.documents else ""
    failed = [f"left out for a failed run: {', '.join(plan.failed)}"] if plan.failed else []
    title = f"{plan.table}, {plan.row}: {plan.made} of {plan.most} runs{scored}"
    return "\n".join([title, *_pair_lines(plan), *failed])


def _pair_lines(plan: RowPlan) -> list[str]:
    if not plan.pairs:
        return []
    lines = list(map(_pair_line, plan.pairs))
    if plan.documents is None:
        return aligned([PAIRS, *lines])
    others = [(ON_OTHERS, "", *_answer(one)) for one in plan.documents.pairs]
    return aligned([PAIRS, *chain.from_iterable(zip(lines, others, strict=True))])


def _pair_line(one: PairState) -> tuple[str, ...]:
    upper, lower = (one.first, one.second) if one.difference >= 0 else (one.second, one.first)
    return f"{upper} > {lower}", f"{100 * abs(one.difference):.2f}", *_answer(one)


def _answer(one: PairState) -> tuple[str, str]:
    state = "decided" if one.decided else "open" if one.open else "not decidable"
    return f"{one.p:.3f}", state

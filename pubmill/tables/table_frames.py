"""Finished tables as DataFrames, one line per cell or per run.

`cell_frame` and `fact_frame` are also the CSV files of tables. They begin with `paper`, `table` and `scale`:

- Results: `column`, `model`, `row`, `dataset`, `metric`; `value` and `spread` (rounded to six decimals), `n`
  of `expected` runs; `seeds`: each run's score or failure; `missing`: why there is no value; `published` (as
  printed), `published_note`, `difference`; `verdict`, `why`, `margin`, `p`, `minimal_detectable`;
  `seeds_needed` of the row. If cells of the table refer to cells of other tables: `reference` (`copied from`
  or `minus`), `other_table`, `other_column`, `other_row`, `other_value`, `other_verdict`. If runs collapsed:
  their number (`collapsed`), and the value without them (`without_collapsed`). If a language model is asked:
  `prompt_tokens`, `answer_tokens`, `price` and `currency` of the cell's runs together.
- Facts: `subject`, `column`, `kind`, `measure` (of counts), `value`, `published`, `published_note`, `equal`
  (1 or 0), `reason`. Booleans are 1 and 0, as in the published values.

`run_frame`: `column`, `row`, `dataset`, `fold`, `seed`, `record` (path below the results folder), `score`,
`failed`, `seconds`, and whether the cell is `complete`.
"""

from pandas import DataFrame

from pubmill.metrics.collapse import CONSTANT
from pubmill.storage.result_paths import run_of
from pubmill.tables.cells import SeedScore, Table, total
from pubmill.tables.fact_table_models import FactTable

RUN = ["column", "row", "dataset", "fold", "seed", "record", "score", "failed", "seconds", "complete"]


def cell_frame(table: Table) -> DataFrame:
    """Return the cells of a table, in reading order."""
    lines = []
    for row, column, cell in table.read():
        run = run_of(cell.seeds[0].record).run if cell.seeds else None
        own = run and run.dataset not in row.folds
        published, verdict, other = cell.published, cell.verdict, cell.other
        line: dict[str, object] = {
            "paper": table.paper,
            "table": table.table,
            "scale": table.scale,
            "column": column.key,
            "model": run.model if run else column.model,
            "row": row.key,
            "dataset": run.dataset if run and own else row.dataset,
            "metric": row.metric,
            "value": exact(cell.value),
            "spread": exact(cell.spread),
            "n": cell.n,
            "expected": cell.expected,
            "seeds": "; ".join(f"{seed.name}: {_seed_text(seed)}" for seed in cell.seeds),
            "missing": cell.missing,
            "published": published and published.printed,
            "published_note": published and published.note,
            "difference": exact(cell.difference),
            "verdict": verdict and verdict.verdict,
            "why": verdict and verdict.why,
            "margin": verdict.margin if verdict else None,
            "p": exact(verdict.p) if verdict else None,
            "minimal_detectable": exact(verdict.detectable) if verdict else None,
            "seeds_needed": table.seeds_needed[row.key].seeds if row.key in table.seeds_needed else None,
        }
        if table.refers:
            line |= {
                "reference": other and ("minus" if cell.minus else "copied from"),
                "other_table": other and other.table,
                "other_column": other and other.column,
                "other_row": other and other.row,
                "other_value": exact(other.cell.value) if other else None,
                "other_verdict": other.cell.verdict.verdict if other and other.cell.verdict else None,
            }
        if table.collapsed:
            line |= {"collapsed": cell.collapsed, "without_collapsed": exact(cell.without_collapsed)}
        if table.asks:
            cost = total(seed.asked for seed in cell.seeds if seed.asked)
            line |= {
                "prompt_tokens": cost and cost.prompt_tokens,
                "answer_tokens": cost and cost.answer_tokens,
                "price": exact(cost.price) if cost else None,
                "currency": cost and cost.currency,
            }
        lines.append(line)
    return DataFrame(lines, dtype="object")


def _seed_text(seed: SeedScore) -> str:
    return seed.failed or f"{exact(seed.value)}" + (f" ({CONSTANT})" if seed.collapsed else "")


def exact(value: float | None) -> float | None:
    """Round off the last bits, which depend on the order of summation."""
    return None if value is None else round(value, 6)


def run_frame(table: Table) -> DataFrame:
    """Return the runs of a table, in reading order of their cells."""
    lines = [
        (
            column.key, row.key, run_of(seed.record).run.dataset, seed.fold, seed.seed, seed.record,
            seed.value, seed.failed, seed.seconds, cell.value is not None,
        )
        for row, column, cell in table.read()
        for seed in cell.seeds
    ]  # fmt: skip
    return DataFrame(lines, columns=RUN)


def fact_frame(table: FactTable) -> DataFrame:
    """Return the cells of a fact table, subject by subject."""
    lines = [
        {
            "paper": table.paper,
            "table": table.table,
            "scale": table.scale,
            "subject": row.subject,
            "column": column.key,
            "kind": cell.kind,
            "measure": row.measure if column.fact == "count" else None,
            "value": exact(cell.value) if isinstance(cell.value, float) else _csv_value(cell.value),
            "published": cell.published,
            "published_note": cell.note,
            "equal": _csv_value(cell.equal),
            "reason": cell.reason,
        }
        for row, column, cell in table.read()
    ]
    return DataFrame(lines, dtype="object")


def _csv_value(value: bool | int | float | str | None) -> int | float | str | None:
    return int(value) if isinstance(value, bool) else value

"""Printed values against the runs behind them: equal ones of different runs, different ones of the same.

Values of one model on one dataset and metric are compared over all tables, and printed means of datasets with
the means of the values that other tables print. Values are equal if they can be one score; if the same runs
are printed elsewhere with more digits, these count. Equal values are explained by a search that contains the
other run's or by `COINCIDENCES`, different ones by a table's `elsewhere`.
"""

import itertools
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pubmill.errors import PubmillError
from pubmill.extras.audit.attainable_scores import Interval
from pubmill.extras.audit.reachability import mean_interval, rounding_interval
from pubmill.recipes import FinetuningRecipe
from pubmill.recipes.reading import as_json, read
from pubmill.recipes.tables import Composite
from pubmill.specs import Specs
from pubmill.specs.table_specs import ColumnSpec, RowSpec
from pubmill.stages import Graph
from pubmill.tables.published_values import published_of_cells, read_published

EQUAL, DIFFERENT = "equal values of different runs", "different values of the same runs"
_ONE_DECIMAL = (
    "printed with one decimal, and layers that are removed change little: scores that differ look equal"
)
COINCIDENCES: Mapping[str, Mapping[str, str]] = {
    "gu2020/table10": {
        "jnlpba": "80.06 is printed for both heads; on the other five datasets their values differ"
    },
    "gu2020/table12": {
        "chemprot@blurb": "77.22 is printed for mentions with dummies and with markers; on DDI the two "
        "differ (82.08 and 82.42)"
    },
    "tinn2021/table07": dict.fromkeys(("jnlpba", "ebm-pico", "ddi@blurb", "gad@blurb"), _ONE_DECIMAL),
}
"""Table -> row -> why the same value is printed for different runs of a model on its dataset."""


class PrintedOfRuns(NamedTuple):
    """A printed value, or the mean of some, with the final runs of its cells here: folders such as
    `blurb/pubmedbert-base/bc2gm/standard`. `rows`: the keys of its rows."""

    table: str
    column: str
    rows: tuple[str, ...]
    text: str
    interval: Interval
    runs: tuple[str, ...]


class RunsFinding(NamedTuple):
    """Printed values that contradict the runs behind them. `subject`: model, dataset and metric; `why`: the
    reasons, empty if there are none."""

    kind: str
    subject: tuple[str, ...]
    values: tuple[PrintedOfRuns, ...]
    why: tuple[str, ...]


Values = dict[tuple[str, ...], list[PrintedOfRuns]]
"""Model, dataset and metric, or model and datasets of a mean -> printed values."""


def findings_on_runs(graph: Graph, folder: Path) -> list[RunsFinding]:
    """Compare the printed values of all tables with their runs; `folder`: that of the specs."""
    values: Values = {}
    tables = [_PrintedTable(graph, name, folder) for name in graph.specs.tables]
    for table in tables:
        table.add_cells(values)
    for table in tables:
        table.add_means(values)
    return [one for key in sorted(values) for one in _findings(key, _sharpened(values[key]), graph.specs)]


class _PrintedTable:
    def __init__(self, graph: Graph, name: str, folder: Path) -> None:
        self._graph, self._name, self._table = graph, name, graph.specs.tables[name]
        rows = (graph.tables.row(self._table, row) for row in self._table.rows)
        composites = (one.row for one in self._table.composites)
        columns = [graph.tables.column(one) for one in self._table.columns]
        published = read_published(folder / f"tables/{name}.published.csv", self._table.left_out)
        values = published_of_cells(columns, [*rows, *composites], published)
        self._printed = {key: one.printed for key, one in values.items()}

    def _runs(self, column: ColumnSpec, row: RowSpec) -> tuple[str, ...]:
        """Return the final runs of a cell that is judged; none of other cells."""
        table, excused = self._table, column.missing or row.missing or row.not_comparable
        known = table.model_of(column, row) in self._graph.specs.models
        if excused or table.not_comparable(column, row) or not known:
            return ()
        paths = self._graph.tables.cell_records(table, column, row)
        return tuple(dict.fromkeys(path.partition("/")[2].partition("/final/")[0] for path in paths))

    def _subject(self, column: ColumnSpec, row: RowSpec) -> tuple[str, ...]:
        model, dataset = self._table.model_of(column, row) or "", self._table.dataset_of(column, row)
        return model, dataset, self._graph.tables.row(self._table, row).metric

    def add_cells(self, values: Values) -> None:
        """Add the printed values of the cells with runs."""
        for column, row in itertools.product(self._table.columns, self._table.rows):
            text = self._printed.get((column.name, row.name))
            if column.model and text and (runs := self._runs(column, row)):
                interval = rounding_interval(text)
                one = PrintedOfRuns(self._name, column.name, (row.name,), text, interval, runs)
                values.setdefault(self._subject(column, row), []).append(one)

    def add_means(self, values: Values) -> None:
        """Add printed composites whose rows are all hidden, and means of the same values in other tables."""
        rows = {one.name: one for one in self._table.rows}
        for composite, column in itertools.product(self._table.composites, self._table.columns):
            parts = [rows[part] for group in composite.groups.values() for part in group]
            text = self._printed.get((column.name, composite.name))
            if not (text and column.model and {part.name for part in parts} <= set(self._table.hidden)):
                continue
            subjects = [self._subject(column, part) for part in parts]
            known = values.setdefault((column.model, "mean of", *(one[1] for one in subjects)), [])
            if not known:
                known += _means(composite, [values.get(one, []) for one in subjects])
            if all(runs := [self._runs(column, part) for part in parts]):
                interval, keys = rounding_interval(text), (*(part.name for part in parts), composite.name)
                known.append(PrintedOfRuns(self._name, column.name, keys, text, interval, sum(runs, ())))


def _means(composite: Composite, values: Sequence[Sequence[PrintedOfRuns]]) -> Iterator[PrintedOfRuns]:
    """Yield a composite of printed values; `values`: those of each part, in every table."""
    columns = [{(one.table, one.column): one for one in of_part} for of_part in values]
    ends = list(itertools.accumulate(map(len, composite.groups.values()), initial=0))
    for place in columns[0]:
        parts = [column[place] for column in columns if place in column]
        if len(parts) == len(columns):
            mean = mean_interval([[one.interval for one in parts[a:b]] for a, b in itertools.pairwise(ends)])
            text, runs = f"{float(50 * sum(mean)):.3f}", sum((one.runs for one in parts), ())
            yield PrintedOfRuns(*place, tuple(one.rows[0] for one in parts), text, mean, runs)


def _sharpened(values: Sequence[PrintedOfRuns]) -> list[PrintedOfRuns]:
    """Return each value with the narrowest interval that is printed for the same runs and inside its own."""

    def sharpest(one: PrintedOfRuns) -> Interval:
        known = [other.interval for other in values if other.runs == one.runs]
        within = [of for of in known if one.interval.low <= of.low and of.high <= one.interval.high]
        return min(within, key=lambda of: of.high - of.low)

    return [one._replace(interval=sharpest(one)) for one in values]


def _findings(
    subject: tuple[str, ...], values: Sequence[PrintedOfRuns], specs: Specs
) -> Iterator[RunsFinding]:
    """Yield the findings on one subject: equal values by pair of runs, different values by runs."""
    for kind, same in ((EQUAL, False), (DIFFERENT, True)):
        groups: dict[frozenset[tuple[str, ...]], list[tuple[PrintedOfRuns, PrintedOfRuns]]] = {}
        for one, other in itertools.combinations(values, 2):
            if (one.runs == other.runs) == same and (_differ(one, other) if same else _equal(one, other)):
                groups.setdefault(frozenset({one.runs, other.runs}), []).append((one, other))
        for pairs in groups.values():
            reasons = [_reasons(*pair, specs) for pair in pairs]
            why = tuple(dict.fromkeys(itertools.chain(*reasons))) if all(reasons) else ()
            yield RunsFinding(kind, subject, tuple(dict.fromkeys(itertools.chain(*pairs))), why)


def _equal(one: PrintedOfRuns, other: PrintedOfRuns) -> bool:
    """Return whether both can be one score, printed with these digits."""
    return max(one.interval.low, other.interval.low) < min(one.interval.high, other.interval.high)


def _differ(one: PrintedOfRuns, other: PrintedOfRuns) -> bool:
    """Return whether the values can't be one score, printed with their digits."""
    digits = {len(value.text.partition(".")[2]) for value in (one, other)}
    return not (_equal(one, other) if len(digits) == 1 else one.interval.meets(other.interval))


def _reasons(one: PrintedOfRuns, other: PrintedOfRuns, specs: Specs) -> list[str]:
    reasons = []
    for here, there in ((one, other), (other, one)):
        table = specs.tables[here.table]
        if here.runs == there.runs:
            remarks = table.elsewhere.get(there.table) or table.elsewhere.get(there.table.split("/")[0]) or {}
            reasons += [remarks[key] for key in (*here.rows, "any") if key in remarks][:1]
            continue
        known = COINCIDENCES.get(here.table, {})
        reasons += [known[row] for row in here.rows if row in known]
        if _contains(here.runs, there.runs, specs):
            reasons.append(f"the search of {', '.join(here.runs)} contains that of {', '.join(there.runs)}")
    return reasons


def _contains(runs: Sequence[str], others: Sequence[str], specs: Specs) -> bool:
    """Return whether each run's search contains that of the other."""
    return len(runs) == len(others) and all(
        one.split("/")[0] == other.split("/")[0] and _points(one, specs) >= _points(other, specs)
        for one, other in zip(runs, others, strict=True)
    )


def _points(run: str, specs: Specs) -> set[str]:
    """Return the fine-tunings among which a run's search chooses."""
    protocol, model, dataset, setting = run.split("/")
    if protocol not in specs.protocols:  # not fine-tuned
        return {run}
    spec, data = specs.protocols[protocol], specs.datasets[dataset]
    values = spec.recipe(data, model, setting, trial=False)
    points = spec.points(data, model, setting) or {"": {}}
    return {as_json(read(FinetuningRecipe, json.dumps(values | point))) for point in points.values()}


def as_text(findings: Sequence[RunsFinding]) -> str:
    """Return the findings for the terminal, with their number of each kind."""
    kinds, lines = Counter(one.kind for one in findings), list[str]()
    for finding in findings:
        lines.append(f"{', '.join(finding.subject)}: {finding.kind}")
        for one in finding.values:
            lines.append(f"  {one.text:>7}  {one.table} {one.column}: {', '.join(one.runs)}")
        lines += [*(f"  why: {text}" for text in finding.why or ("no reason is stated",)), ""]
    return "\n".join([*lines, *(f"{kind}: {kinds[kind]}" for kind in (EQUAL, DIFFERENT))])


def check_reasons(findings: Sequence[RunsFinding], specs: Specs) -> None:
    """Raise a `PubmillError` if a finding has no reason, or a remark of `COINCIDENCES` no finding."""
    to_do = "give it in COINCIDENCES of the audit, or under `elsewhere` of a table"
    faults = [f"no reason for {', '.join(one.subject)}; {to_do}" for one in findings if not one.why]
    equal = (one for one in findings if one.kind == EQUAL)
    used = {(value.table, row) for one in equal for value in one.values for row in value.rows}
    noted = ((name, row) for name, rows in COINCIDENCES.items() if name in specs.tables for row in rows)
    for name, row in (one for one in noted if one not in used):
        faults.append(f"{name}: {row}: COINCIDENCES of the audit explains no finding; remove it")
    if faults:
        raise PubmillError("; ".join(faults))

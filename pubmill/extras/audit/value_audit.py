"""The audit of published values by the counts, runs and aggregates that the papers state, and its pages.

A value is `reachable` if some counts (such as correct predictions) give it, `unreachable` if none do, and
`untestable`, with a reason, if the paper does not state what it is computed from. Verdicts name no cause.
"""

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from pubmill.extras.audit import reachability as reach
from pubmill.extras.audit.attainable_scores import Interval
from pubmill.extras.audit.audit_recipes import AuditedColumn, AuditedRow, AuditedTable, AuditRecipe
from pubmill.extras.audit.contradictions import Contradiction, find_contradictions, places_in_words
from pubmill.extras.audit.reachability import Reading, arithmetic, changes, printed_range
from pubmill.messages.wording import aligned
from pubmill.recipes.tables import Composite, PublishedRow
from pubmill.report.rendering import renderers
from pubmill.statistics.verdict_models import Shape
from pubmill.tables.cells import PublishedValue
from pubmill.tables.published_values import places, published_lines, published_of_cells, read_published

Verdict = Literal["reachable", "unreachable", "untestable"]


class Finding(Shape):
    """The verdict on one published value.

    - `table`, `paper`, `number`: where it is printed; `model`, `dataset`, `metric`: its labels there.
    - `test`: what it is tested as; `why`: the arithmetic, or why it can't be tested.
    - `change`: the smallest changes of runs or test split with which it would be reachable.
    - `chance`: how many of the numbers with the same whole part are reachable, and how many there are.
    """

    table: str
    paper: str
    number: int
    model: str
    dataset: str
    metric: str
    printed: str
    verdict: Verdict
    test: str = ""
    why: str = ""
    change: str = ""
    chance: tuple[int, int] | None = None


class Audit(Shape):
    """The verdicts on all published values, in the order of tables and files, and their contradictions."""

    findings: tuple[Finding, ...]
    contradictions: tuple[Contradiction, ...]

    @property
    def counts(self) -> dict[str, Counter[str]]:
        """Paper -> verdict -> number of values; the last key, `all`, is the sum over papers."""
        papers: dict[str, Counter[str]] = {}
        for one in self.findings:
            papers.setdefault(one.paper, Counter())[one.verdict] += 1
        return papers | {"all": sum(papers.values(), Counter())}

    @property
    def unreachable(self) -> "list[Unreachable]":
        """The distinct values that are unreachable, each with the places where it is printed."""
        groups: dict[tuple[str, ...], list[Finding]] = {}
        for one in self.findings:
            if one.verdict == "unreachable":
                key = (one.dataset, one.printed, one.test, one.why, one.change)
                groups.setdefault(key, []).append(one)
        return [Unreachable(ones) for _, ones in sorted(groups.items())]

    @property
    def reasons(self) -> dict[str, int]:
        """Why values are untestable -> number of values, the most frequent first."""
        return dict(Counter(one.why for one in self.findings if one.verdict == "untestable").most_common())

    @property
    def tests(self) -> "list[TestSummary]":
        """The tests that exclude some numbers, with their verdicts."""
        groups: dict[tuple[str, str, str], list[Finding]] = {}
        for one in self.findings:
            if one.chance and one.chance[0] < one.chance[1]:
                groups.setdefault((one.paper, one.dataset, one.test), []).append(one)
        return [TestSummary(paper, dataset, test, ones) for (paper, dataset, test), ones in groups.items()]

    def of_tables(self, tables: tuple[str, ...]) -> "Audit":
        """Select the values of some tables, and the contradictions that involve one of them."""
        own = (one for one in self.contradictions if not set(tables).isdisjoint(one.tables))
        findings = tuple(one for one in self.findings if one.table in tables)
        return Audit(findings=findings, contradictions=tuple(own))


class Unreachable(NamedTuple):
    """The findings on one unreachable value of a dataset: all tables that print it with the same test."""

    findings: list[Finding]

    @property
    def first(self) -> Finding:
        return self.findings[0]

    @property
    def places(self) -> str:
        """The tables where it is printed: `gu2020 Tables 6, 7; tinn2021 Table 2`."""
        return places_in_words((one.paper, one.number) for one in self.findings)

    @property
    def models(self) -> str:
        """The labels of its models or columns, each once."""
        return ", ".join(dict.fromkeys(one.model for one in self.findings))


class TestSummary(NamedTuple):
    """The findings on values of one paper and dataset that have the same test (`Finding.test`)."""

    paper: str
    dataset: str
    test: str
    findings: list[Finding]

    @property
    def distinct(self) -> dict[str, Verdict]:
        """The distinct printed values with their verdicts."""
        return {one.printed: one.verdict for one in self.findings}

    def having(self, verdict: Verdict) -> list[str]:
        return sorted(value for value, found in self.distinct.items() if found == verdict)

    @property
    def by_chance(self) -> float:
        """The share of reachable numbers among those with the same whole part as the printed values."""
        known = [one.chance for one in self.findings if one.chance]
        return sum(reachable for reachable, _ in known) / sum(number for _, number in known)


TEMPLATES = Path(__file__).with_name("templates")
FACT = "a fact, not a score"
DIFFERENCE = "a difference to a value of another table, which is not printed"
UNSTATED_RUNS = "the paper states no number of runs, and one run does not give it"
UNSTATED_FOLDS = "how runs and folds are combined is not stated, and one run on one fold does not give it"
PARTS_NOT_PRINTED = "the values that it is computed from are not all printed"


def audit(recipe: AuditRecipe, specs: Path) -> Audit:
    """Audit all published values; `specs`: the folder with the published files."""
    tables = {table.name: _TableAudit(table, recipe, specs) for table in recipe.tables}
    scores = (one for table in tables.values() for one in table.findings())
    facts = (one for table in recipe.facts for one in _facts(table, specs))
    findings = sorted((*scores, *facts), key=lambda one: one.table)  # stable: within a table as in its file
    contradictions = find_contradictions(recipe, {name: one.printed for name, one in tables.items()})
    return Audit(findings=tuple(findings), contradictions=contradictions)


def _facts(table: str, specs: Path) -> Iterator[Finding]:
    paper, _, name = table.partition("/")
    number = int(name.removeprefix("table"))
    fact = partial(Finding, table=table, paper=paper, number=number, verdict="untestable", why=FACT)
    for model, dataset, metric, value, _ in published_lines(specs / f"tables/{table}.published.csv").values:
        if value:
            yield fact(model=model, dataset=dataset, metric=metric, printed=value)


Judged = tuple[Verdict, str, str, str]
"""Verdict, test, reason and changes of a value."""


def _untestable(why: str) -> Judged:
    return "untestable", "", why, ""


class _TableAudit:
    def __init__(self, table: AuditedTable, recipe: AuditRecipe, specs: Path) -> None:
        self._table = table
        self._protocols = recipe.protocols
        self._file = specs / f"tables/{table.name}.published.csv"
        self._composites = {one.name: one for one in table.composites}

    @cached_property
    def printed(self) -> Mapping[tuple[str, str], PublishedValue]:
        """Column and row -> published value."""
        rows = [*self._table.rows, *(one.row for one in self._table.composites)]
        return published_of_cells(self._table.columns, rows, read_published(self._file, self._table.left_out))

    def findings(self) -> Iterator[Finding]:
        """Yield the verdict on every published value of the table, by the first cell with its names."""
        composites = (one.row for one in self._table.composites)
        rows: list[PublishedRow] = [*self._table.rows, *composites, *self._table.differences]
        cells: dict[tuple[str, str, str], tuple[AuditedColumn, PublishedRow]] = {}
        for pair in itertools.product(self._table.columns, rows):
            for place in places(*pair):
                cells.setdefault(place, pair)
        for line in filter(lambda one: one.value, published_lines(self._file).itertuples()):
            column, row = cells.get((line.column, line.row, line.metric), (None, None))
            verdict, test, why, change = self._judged(line, column, row)
            yield Finding(
                table=self._table.name,
                paper=self._table.paper,
                number=self._table.number,
                model=column.label if column else line.column,
                dataset=row.label if row else line.row,
                metric=line.metric,
                printed=line.value,
                verdict=verdict,
                test=test,
                why=why,
                change=change,
                chance=self._chance(line.value, column, row) if test else None,
            )

    def _judged(self, line: Any, column: AuditedColumn | None, row: PublishedRow | None) -> Judged:
        printed = line.value
        if column is None or row is None:
            left_out = self._table.left_out
            why = left_out.get(line.row) or left_out.get(f"{line.row}/{line.metric}")
            return _untestable(f"not a score shown here: {why}" if why else "no cell of this name")
        copied = self._table.copied.get(f"{column.key}/{row.key}")
        if copied or "copied" in line.note:
            return _untestable(f"copied from {copied or 'another paper'}")
        if row in self._table.differences:
            return _untestable(DIFFERENCE)
        if row.key in self._composites:
            return self._judged_composite(printed, column, self._composites[row.key])
        if combined := self._combined(column, row):
            return _follows(printed, combined, f"the {column.by} of the printed values of other columns")
        assert isinstance(row, AuditedRow)
        return self._judged_score(printed, column, row)

    def _judged_composite(self, printed: str, column: AuditedColumn, composite: Composite) -> Judged:
        """Judge a composite by the intervals of its printed parts."""
        groups = [[self._interval(column.key, row) for row in group] for group in composite.groups.values()]
        known = [[one for one in group if one] for group in groups]
        if known != groups:
            return _untestable(PARTS_NOT_PRINTED)
        over_tasks, of_all = "mean over tasks of their printed datasets", "mean of the printed datasets"
        return _follows(printed, reach.mean_interval(known), over_tasks if len(groups) > 1 else of_all)

    def _interval(self, column: str, row: str) -> Interval | None:
        value = self.printed.get((column, row))
        return reach.rounding_interval(value.printed) if value else None

    def _combined(self, column: AuditedColumn, row: PublishedRow) -> Interval | None:
        """Return the interval of a value computed from other columns, None if they are not all printed."""
        known = [self._interval(name, row.key) for name in column.combines]
        parts = [one for one in known if one]
        if not parts or len(parts) < len(known):
            return None
        if column.by == "best":
            return Interval(max(one.low for one in parts), max(one.high for one in parts))
        start, *ends = parts
        return Interval(min(one.low for one in ends) - start.high, min(one.high for one in ends) - start.low)

    def _judged_score(self, printed: str, column: AuditedColumn, row: AuditedRow) -> Judged:
        """Judge a score by a search over the counts of its test split."""
        triple = self._triple(column, row)
        if triple and not triple.meets(reach.rounding_interval(printed)):
            test = "mean F1 of any number of runs with the printed precision and recall"
            return _follows(printed, triple, test)
        if why := column.why or row.why:
            return _untestable(why)
        if column.by == "drop":
            return _untestable(PARTS_NOT_PRINTED)
        reading, unstated = self._reading(column, row)
        known = reach.is_reachable(reach.rounding_interval(printed), *reading)
        if known:
            return "reachable", reading.text, "", ""
        if known is None or row.metric == "relaxed_f1":
            return _untestable("the search over counts is not exhaustive for this score, and found none")
        if unstated:
            return "untestable", reading.text, unstated, changes(printed, reading)
        return "unreachable", reading.text, arithmetic(printed, reading), changes(printed, reading)

    def _triple(self, column: AuditedColumn, row: AuditedRow) -> Interval | None:
        """Return the interval of a mean F1 whose precision and recall are printed too."""
        if row.part != "f1":
            return None
        rows = (other for other in self._table.rows if other.dataset == row.dataset)
        parts = {other.part: self._interval(column.key, other.key) for other in rows}
        precision, recall = parts.get("precision"), parts.get("recall")
        return reach.f1_of_means(precision, recall) if precision and recall else None

    def _reading(self, column: AuditedColumn, row: AuditedRow) -> tuple[Reading, str]:
        """Return the counts, runs and aggregate of a cell, and what the paper leaves unstated. If it
        states no number of runs, one is assumed: any number of equal runs has the score of one run."""
        name = self._table.protocols.get(f"{column.key}/{row.key}", self._table.protocol)
        protocol = self._protocols[name]
        if column.runs:
            return Reading(row.scores, column.runs, protocol.aggregate), ""
        runs = protocol.runs.get(row.dataset or "", protocol.runs["default"]) if protocol.stated else 1
        unstated = UNSTATED_FOLDS if row.dataset in protocol.unstated else ""
        return Reading(row.scores, runs, protocol.aggregate), unstated if protocol.stated else UNSTATED_RUNS

    def _chance(
        self, printed: str, column: AuditedColumn | None, row: PublishedRow | None
    ) -> tuple[int, int] | None:
        """Return how many numbers like a score are reachable; None for what is tested by intervals."""
        if column is None or not isinstance(row, AuditedRow) or not row.scores or column.by == "drop":
            return None
        reading, _ = self._reading(column, row)
        return reach.chance(printed, reading.scores, reading.runs, reading.over)


def _follows(printed: str, possible: Interval, test: str) -> Judged:
    """Judge a value that is computed from others by their interval."""
    if possible.meets(reach.rounding_interval(printed)):
        return "reachable", test, "", ""
    low, high = printed_range(possible, printed)
    nearest = low if reach.rounding_interval(printed).high < possible.low else high
    return "unreachable", test, f"they give {low} to {high}", f"reachable if printed as {nearest}"


def findings_in_text(shown: Audit) -> str:
    """Return the numbers of values by verdict, each unreachable value with its arithmetic, and the
    contradictions."""
    counts = {paper: [of[verdict] for verdict in get_args(Verdict)] for paper, of in shown.counts.items()}
    lines = aligned(
        [("paper", *get_args(Verdict)), *((paper, *map(str, of)) for paper, of in counts.items())]
    )
    for one in shown.unreachable:
        found = one.first
        lines.append(
            f"{found.printed} ({one.places}; {one.models}; {found.dataset}): {found.test}: {found.why}"
        )
    for differing in shown.contradictions:
        values = ", ".join(f"{value} ({of})" for value, of in differing.sources)
        lines.append(f"{differing.model}, {differing.dataset}: {values}: {'; '.join(differing.reasons)}")
    return "\n".join(lines)


AUDIT_RENDERERS = renderers("audit", ("json", "html"), lambda shown: {"shown": shown}, folder=TEMPLATES)

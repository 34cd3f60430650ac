"""Verdicts on published values: which of them the stated test split, runs, aggregate and rounding can give.

A value is `reachable` if some counts (such as correct predictions) give it, `unreachable` if none do, and
`untestable`, with a reason, if the paper does not state what it is computed from. Verdicts name no cause.
"""

from collections import Counter
from typing import Literal, NamedTuple

from pubmill.statistics.verdict_models import Shape
from pubmill.tables.published_values import table_numbers

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
    """The verdicts on all published values, in the order of tables and files."""

    findings: tuple[Finding, ...]

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
        """Select the values of some tables."""
        return Audit(findings=tuple(one for one in self.findings if one.table in tables))


class Unreachable(NamedTuple):
    """The findings on one unreachable value of a dataset: all tables that print it with the same test."""

    findings: list[Finding]

    @property
    def first(self) -> Finding:
        return self.findings[0]

    @property
    def places(self) -> str:
        """The tables where it is printed: `gu2020 Tables 6, 7; tinn2021 Table 2`."""
        papers: dict[str, dict[int, None]] = {}
        for one in self.findings:
            papers.setdefault(one.paper, {})[one.number] = None
        return "; ".join(map(table_numbers, papers, papers.values()))

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

    @property
    def unreachable(self) -> list[str]:
        return sorted(value for value, verdict in self.distinct.items() if verdict == "unreachable")

    @property
    def untestable(self) -> list[str]:
        return sorted(value for value, verdict in self.distinct.items() if verdict == "untestable")

    @property
    def by_chance(self) -> float:
        """The share of reachable numbers among those with the same whole part as the printed values."""
        known = [one.chance for one in self.findings if one.chance]
        return sum(reachable for reachable, _ in known) / sum(number for _, number in known)

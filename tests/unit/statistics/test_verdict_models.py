"""The rule of verdicts in words."""

from typing import Any

import pytest

from pubmill.recipes.tables import Equivalence, Margin
from pubmill.statistics.verdict_models import rule_in_words


def rule(**margins: Margin) -> Equivalence:
    return Equivalence(alpha=0.05, power=0.8, margins=margins, runs={})


@pytest.mark.parametrize(
    ("number", "shown"),
    [(1, "0.5 for R0 (why)"), (4, "0.5 for R0, r1, r2, r3 (why)"), (5, "0.5 for most (why)")],
)
def test_a_margin_names_its_rows_if_they_are_few(number: int, shown: str) -> None:
    made = rule(**{f"r{i}": Margin(points=0.5, why="why") for i in range(number)})
    assert rule_in_words(made, "mean", {"r0": "R0"}).endswith(f"Margins in points: {shown}.")


def test_the_margin_of_most_rows_comes_first() -> None:
    one, other = Margin(points=2, why="small"), Margin(points=1, why="large")
    text = rule_in_words(rule(a=one, b=other, c=other), "mean", {})
    assert text.endswith("Margins in points: 1 for b, c (large); 2 for a (small).")


@pytest.mark.parametrize(("aggregate", "stands"), [("mean", False), ("median", True)])
def test_the_rule_has_its_alpha_and_power_and_what_medians_need(aggregate: Any, stands: bool) -> None:
    text = rule_in_words(rule(), aggregate, {})
    assert "(alpha 0.05)" in text and "power 0.8" in text and ("of medians" in text) == stands

"""Data models of verdicts and of the rule behind them."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict

from pubmill.recipes.tables import Aggregate, Equivalence, Margin


class Shape(BaseModel):
    """Base of data models: unknown fields are errors, and instances cannot change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def rule_in_words(rule: Equivalence, aggregate: Aggregate, labels: Mapping[str, str]) -> str:
    """Describe the rule for verdicts; `labels`: those of rows and composites."""
    medians = "; of medians the large-sample standard error, 1.25 times that of a mean"
    return (
        "Verdicts, by a rule fixed before anything was run: two one-sided t tests "
        f"(alpha {rule.alpha:g}) of ours minus published against a margin, with the spread of our seeds "
        "in the place of the paper's, which is not published, over as many runs as the paper had"
        f"{medians if aggregate == 'median' else ''}. Reproduced: a difference as large as the margin is "
        "rejected. Not reproduced: it is not, and the difference is above the margin and above the "
        f"minimal detectable one (two-sided t test, power {rule.power:g}). Else: within the minimal "
        f"detectable difference (MDD). Margins in points: {_margins_text(rule, labels)}."
    )


def _margins_text(rule: Equivalence, labels: Mapping[str, str]) -> str:
    """Describe each margin with its reason and, if they are few, its rows."""
    of: dict[Margin, list[str]] = {}
    for key, margin in rule.margins.items():
        of.setdefault(margin, []).append(labels.get(key, key))
    parts = []
    for margin, rows in sorted(of.items(), key=lambda item: -len(item[1])):
        held = "most" if len(rows) > 4 else ", ".join(rows)
        parts.append(f"{margin.points:g} for {held} ({margin.why})")
    return "; ".join(parts)


class Verdict(Shape):
    """Whether a published value is reproduced, and the reason (`pubmill.tables.verdicts`). `p`: p value of
    the equivalence test against `margin`; `detectable`: the minimal detectable difference."""

    verdict: Literal[
        "reproduced",
        "within the minimal detectable difference",
        "not reproduced",
        "not comparable",
        "no verdict",
    ]
    why: str
    margin: float | None = None
    p: float | None = None
    detectable: float | None = None


class SeedsNeeded(Shape):
    """The number of seeds of each of two models that resolves half a point between them, given the `spread`
    over seeds, which has `freedom` degrees of freedom."""

    spread: float
    freedom: int
    seeds: int

"""The shapes that verdicts are made of."""

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict


class Shape(BaseModel):
    """Strict, and not to be changed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Aggregate = Literal["mean", "median"]
"""How a cell's runs become one number."""


class Margin(Shape):
    """The largest difference, in points, that counts as none, and why this one."""

    points: float
    why: str


class Equivalence(Shape):
    """How verdicts are reached, fixed before anything is run. `margins`: of each row and composite; `runs`:
    how many there are behind the published values of a row."""

    alpha: float
    power: float
    margins: dict[str, Margin]
    runs: dict[str, int]

    def told(self, aggregate: Aggregate, labels: Mapping[str, str]) -> str:
        """The rule in words; `labels`: of rows and composites."""
        medians = "; of medians the large-sample standard error, 1.25 times that of a mean"
        return (
            "Verdicts, by a rule fixed before anything was run: two one-sided t tests "
            f"(alpha {self.alpha:g}) of ours minus published against a margin, with the spread of our seeds "
            "in the place of the paper's, which is not published, over as many runs as the paper had"
            f"{medians if aggregate == 'median' else ''}. Reproduced: a difference as large as the margin is "
            "rejected. Not reproduced: it is not, and the difference is above the margin and above the "
            f"minimal detectable one (two-sided t test, power {self.power:g}). Else: within the minimal "
            f"detectable difference (MDD). Margins in points: {self._margins(labels)}."
        )

    def _margins(self, labels: Mapping[str, str]) -> str:
        """Each margin with its reason and the rows that it is for, if these are few."""
        of: dict[Margin, list[str]] = {}
        for key, margin in self.margins.items():
            of.setdefault(margin, []).append(labels.get(key, key))
        parts = []
        for margin, rows in sorted(of.items(), key=lambda item: -len(item[1])):
            held = "most" if len(rows) > 4 else ", ".join(rows)
            parts.append(f"{margin.points:g} for {held} ({margin.why})")
        return "; ".join(parts)


class Verdict(Shape):
    """Whether a published value is reproduced, and why it is said (`pubmill.tables.verdicts`).

    `p`: of the equivalence test against `margin`; `detectable`: the minimal detectable difference."""

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


class Need(Shape):
    """How many seeds of each of two models resolve half a point between them, by a `spread` over seeds with
    `freedom` degrees of freedom."""

    spread: float
    freedom: int
    seeds: int

"""The recipe of the audit: the counts, runs and aggregates that papers state for their published values."""

from dataclasses import field
from typing import Any, Literal

from pubmill.recipes.recipe_types import StrictRecipe
from pubmill.recipes.tables import Aggregate, Composite, PublishedColumn, PublishedRow

ScoreKind = Literal["share", "f1", "mean_f1", "reciprocal_rank", "correlation"]
Over = Literal["mean", "median", "max"]
"""How runs are combined into a printed score."""


class ScoreCounts(StrictRecipe):
    """The known counts of a test split that one run's score is computed from.

    - `share`: `sizes` is the number of items; the score is correct / items.
    - `f1`: `sizes` is the number of gold items; the score is 2 tp / (gold + predicted).
    - `mean_f1`: `sizes` is the number of gold items of each class; the score is the mean of their F1.
    - `reciprocal_rank`: `sizes` is the number of questions; each gives 1, 1/2, 1/3, 1/4, 1/5 or 0.
    - `correlation`: any value from -1 to 1.
    - `wrong`: the largest possible number of false positives; null if it is not known.
    """

    kind: ScoreKind
    sizes: tuple[int, ...] = ()
    wrong: int | None = None

    def __post_init__(self) -> None:
        if self.kind != "correlation" and (not self.sizes or min(self.sizes) < 1):
            raise ValueError(f"a {self.kind} needs counts of at least 1, found {list(self.sizes)}")


class AuditedRow(PublishedRow):
    """A dataset scored with a metric. `scores`: the counts, of each fold if the row has folds; empty if the
    value can't be tested, for the reason in `why`. `part`: precision, recall or F1 of the same predictions as
    other rows of the dataset, else empty."""

    scores: tuple[ScoreCounts, ...] = ()
    why: str = ""
    part: str = ""


class AuditedColumn(PublishedColumn):
    """A column. `runs`: 1 for a system that is not fine-tuned, else null. `combines`: the columns that it is
    computed from; `by`: as their best, or as a drop; `why`: why its values can't be tested. `standard`: all
    its values are in the standard setting, as is its table."""

    runs: int | None = None
    combines: tuple[str, ...] = ()
    by: Literal["", "best", "drop"] = ""
    why: str = ""
    standard: bool = False

    def printed_metric(self, row: PublishedRow) -> str:
        """Return the metric of a cell among the published values; that of a drop is `delta`."""
        return "delta" if self.by == "drop" else row.printed


class StatedRuns(StrictRecipe):
    """How a protocol combines the runs of a score. `runs`: dataset -> number, with a `default`; `stated`: the
    section that states them, empty if the paper does not; `unstated`: rows with folds of which the paper does
    not state how folds and runs are combined."""

    aggregate: Aggregate
    runs: dict[str, int]
    stated: str
    unstated: tuple[str, ...] = ()


class AuditedTable(StrictRecipe):
    """A table of results. `protocols`: `column/row` -> its protocol where it is not the table's; `copied`:
    `column/row` -> the table that the paper copied the value from; `differences`: rows of differences to
    cells of other tables. `metric`: its own, if any; `elsewhere`: paper or table -> dataset, or `any` -> why
    its values differ from those there."""

    name: str
    paper: str
    number: int
    protocol: str
    columns: tuple[AuditedColumn, ...]
    rows: tuple[AuditedRow, ...]
    composites: tuple[Composite, ...] = ()
    differences: tuple[PublishedRow, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    protocols: dict[str, str] = field(default_factory=dict)
    copied: dict[str, str] = field(default_factory=dict)
    metric: str | None = None
    elsewhere: dict[str, dict[str, str]] = field(default_factory=dict)


class AuditRecipe(StrictRecipe):
    """The input of the audit's job. `facts`: the tables without scores; `models`: name -> label."""

    tables: tuple[AuditedTable, ...]
    protocols: dict[str, StatedRuns]
    facts: tuple[str, ...]
    models: dict[str, str]
    versions: dict[str, Any]

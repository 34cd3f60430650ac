"""The shapes of a table: what the job that makes one is told, and what it makes.

Scores are fractions (0..1) in records and percentages (0..100) everywhere here, as the papers print them.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from pubmill.errors import PubmillError
from pubmill.files import read_json

NO_RECORD = "no record"
"""What `SeedScore.failed` says of a run whose record does not exist."""


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


Aggregate = Literal["mean", "median"]
"""How a cell's runs become one number."""

AnyShape = TypeVar("AnyShape", bound=BaseModel)


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


class Column(Shape):
    """A model, or the best of other columns in each row (`best_of`), which has no runs of its own.

    `place`: protocol and setting of the records of a finished pipeline, which predicts as it is; None: a
    fine-tuned model's, which are the table's.
    """

    model: str
    label: str
    place: tuple[str, str] | None = None
    best_of: tuple[str, ...] = ()


class Row(Shape):
    """A dataset, or the composite.

    `metric` None: the one that the published values name. `conflicts`: where published counts of the
    dataset disagree, and which of them is used. `folds`: the datasets whose runs stand in one cell, where
    they are parts of one of cross-validation.
    """

    dataset: str
    label: str
    group: str = ""
    metric: str | None = None
    conflicts: tuple[str, ...] = ()
    folds: tuple[str, ...] = ()

    @property
    def published(self) -> str:
        """Its name among the published values, which know no forms (`chemprot@blurb` is `chemprot`)."""
        return self.dataset.partition("@")[0]


class Composite(Shape):
    """A mean over task groups of the mean over each group's datasets (gu2020, caption of Table 6)."""

    name: str
    label: str
    groups: dict[str, tuple[str, ...]]


class Heading(Shape):
    """What stands over any table. `scale_title` says in words what a scale is; numbers of a scale that
    is not `comparable` must never be read as the paper's."""

    paper: str
    table: str
    title: str
    caption: str
    citation: str = ""
    notes: tuple[str, ...] = ()
    scale: str
    scale_title: str
    comparable: bool

    @property
    def warning(self) -> str:
        """What every title at this scale must say beside itself; empty where the paper's scale is run."""
        return "" if self.comparable else self.scale_title

    @property
    def heading(self) -> str:
        """The title, with the scale's warning so that nothing small poses as full."""
        return f"{self.title} ({self.warning})" if self.warning else self.title


class ResultHeading(Heading):
    """What stands over a table of results."""

    protocol: str
    setting: str
    aggregate: Aggregate
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


class TableRecipe(ResultHeading):
    """What decides a table. `records`: model -> dataset -> the expected records, below the results
    folder; `missing`: model, dataset or `model/dataset` -> why there is nothing of our own."""

    composite: Composite | None = None
    records: dict[str, dict[str, tuple[str, ...]]] = {}
    missing: dict[str, str] = {}
    versions: dict[str, Any] = {}


class SeedScore(Shape):
    """One run: its score, or why it has none (`failed`); `fold`: the dataset, where a cell is of several."""

    seed: int
    value: float | None
    failed: str | None
    fold: str = ""

    @property
    def name(self) -> str:
        """The run among those of its cell."""
        return f"{self.fold} {self.seed}".strip()


class PublishedValue(Shape):
    value: float
    note: str


class Cell(Shape):
    """Ours beside the published value.

    `value` is None where any expected part is missing or failed, and `missing` then says why;
    `spread` is the sample standard deviation over runs; `n` of `expected` parts (seeds of a run, of each
    fold where there are folds, datasets of a composite, or columns of which it is the best) are complete;
    `difference` is ours minus published.
    """

    value: float | None
    spread: float | None
    n: int
    expected: int
    seeds: tuple[SeedScore, ...]
    missing: str | None
    published: PublishedValue | None
    difference: float | None


class Provenance(Shape):
    """With what the records of a table were made. `runs`, of which some `failed`, and `seconds` are of
    fine-tuning, all runs together; `pipelines`: finished pipelines, by model, as they call themselves."""

    runs: int = 0
    failed: int = 0
    seconds: float = 0.0
    commits: tuple[str, ...] = ()
    packages: dict[str, tuple[str, ...]] = {}
    hardware: tuple[str, ...] = ()
    pipelines: dict[str, tuple[str, ...]] = {}


class Table(ResultHeading):
    """A whole table: `cells[model][dataset]`, the composite under its own name."""

    composite: Row | None
    cells: dict[str, dict[str, Cell]]
    provenance: Provenance

    @property
    def all_rows(self) -> tuple[Row, ...]:
        return self.rows if self.composite is None else (*self.rows, self.composite)

    @property
    def has_runs(self) -> dict[str, bool]:
        """Model -> whether anything of our own stands in its column."""
        return {
            c.model: any(cell.seeds or cell.value is not None for cell in self.cells[c.model].values())
            for c in self.columns
        }

    @property
    def all_notes(self) -> tuple[str, ...]:
        """Everything that a reader of the numbers must know: source, notes, conflicts of counts."""
        source = (f"Source of the published values: {self.citation}",) if self.citation else ()
        printed = tuple(
            f"{column.label}, {row.label}: {cell.published.note}"
            for row, column, cell in self.read()
            if cell.published and cell.published.note
        )
        conflicts = tuple(f"{row.label}: {conflict}" for row in self.rows for conflict in row.conflicts)
        return source + self.notes + printed + conflicts

    def cells_of(self, row: Row) -> list[Cell]:
        """The cells of a row, in the order of the columns."""
        return [self.cells[column.model][row.dataset] for column in self.columns]

    @property
    def expected_runs(self) -> int:
        """Runs of fine-tuning."""
        return sum(len(cell.seeds) for _, column, cell in self.read() if column.place is None)

    def read(self) -> Iterator[tuple[Row, Column, Cell]]:
        """The cells in reading order."""
        for row in self.all_rows:
            for column in self.columns:
                yield row, column, self.cells[column.model][row.dataset]


def cell_of_seeds(
    seeds: Sequence[SeedScore],
    expected: int,
    reason: str,
    published: PublishedValue | None,
    aggregate: Aggregate = "mean",
) -> Cell:
    """The cell of one model on one dataset; `reason` says why no run is expected (if `expected` is 0)."""
    scores = [seed.value for seed in seeds if seed.value is not None and seed.failed is None]
    whole = expected > 0 and len(scores) == expected
    value = _together(scores, aggregate) if whole else None
    return Cell(
        value=value,
        spread=stdev(scores) if whole and len(scores) > 1 else None,
        n=len(scores),
        expected=expected,
        seeds=tuple(seeds),
        missing=None if whole else _incomplete(seeds, expected, aggregate) or reason,
        published=published,
        difference=difference(value, published),
    )


def _together(scores: Sequence[float], aggregate: Aggregate) -> float:
    return fmean(scores) if aggregate == "mean" else median(scores)


def difference(value: float | None, published: PublishedValue | None) -> float | None:
    """Ours minus published, where both are there."""
    return None if value is None or published is None else value - published.value


def _incomplete(seeds: Sequence[SeedScore], expected: int, aggregate: Aggregate) -> str:
    """Why a cell of `expected` seeds has no mean: `no mean: 4 of 5 seeds (failed, nan: seed 3)`."""
    if not expected:
        return ""
    causes: dict[str, list[str]] = {}
    for seed in seeds:
        if seed.failed is not None:
            causes.setdefault(seed.failed, []).append(seed.name)
    told = "; ".join(
        f"{cause if cause == NO_RECORD else f'failed, {cause}'}: seed {', '.join(numbers)}"
        for cause, numbers in causes.items()
    )
    good = sum(seed.failed is None for seed in seeds)
    return f"no {aggregate}: {good} of {expected} seeds ({told})"


def parse(shape: type[AnyShape], value: Any, where: str) -> AnyShape:
    """Check parsed JSON against a shape; a `PubmillError` names `where` and every wrong key."""
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        faults = [f"  {'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()]
        raise PubmillError("\n".join([f"{where} is not a {shape.__name__}:", *faults])) from None


def parse_argument(shape: type[AnyShape], text: str) -> AnyShape:
    """Read a program's `--recipe`."""
    try:
        return parse(shape, json.loads(text), "--recipe")
    except json.JSONDecodeError as error:
        raise PubmillError(f"--recipe: not valid JSON: {error.msg} at character {error.pos}") from None


def read_table(path: Path) -> Table:
    """Read a table as `scripts/table.py` wrote it."""
    return parse(Table, read_json(path), str(path))

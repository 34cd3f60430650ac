"""The registry of metrics, the only source of their names, versions and definitions, and of their parts:
precision, recall and F1 from totals, and means over classes, for one test set or many resamplings."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import NamedTuple

import numpy as np

from pubmill.metrics.contributions import Array, Columns, Contributions, Function, Measure, Scored, Totals


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric for examples of `kinds`, restricted to `tasks` if given.

    - `label`: its name in tables; `definition`: what it counts; `source`: the source of the definition.
    - `chooses`: the dev score by which weights and trials are chosen for this metric, if it can be.
    - `version`: raised when `function` returns another value for the same totals, or when its totals change.
    - `needs`: values of the fine-tuning recipe without which a run's predictions do not define it.
    - `parts`: values recorded with it, which share its version and which no spec can name.
    """

    name: str
    label: str
    definition: str
    source: str
    function: Function
    chooses: Function | None = None
    _: KW_ONLY
    kinds: tuple[str, ...]
    version: int
    tasks: tuple[str, ...] | None = None
    needs: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, Function] = field(default_factory=dict)

    def fits(self, kind: str, task: str) -> bool:
        """Return whether the metric applies to examples of this kind in this task."""
        return kind in self.kinds and (self.tasks is None or task in self.tasks)


METRICS: dict[str, Metric] = {}
"""Every metric by name, in the order of registration."""
COUNTERS: dict[str, Measure] = {}
"""Kind of examples -> function that returns the counts of its records from totals."""


def register(*metrics: Metric) -> None:
    """Add metrics to the registry."""
    for metric in metrics:
        if metric.name in METRICS:
            raise ValueError(f"the metric {metric.name} is registered twice")
        METRICS[metric.name] = metric


def metrics_of(kind: str, task: str | None = None) -> list[Metric]:
    """Return the metrics of a kind of examples, or of one of its tasks."""
    known = (metric for metric in METRICS.values() if kind in metric.kinds)
    return [metric for metric in known if task is None or metric.fits(kind, task)]


def measure_of(kind: str) -> Measure:
    """Return the function that computes all metrics of a kind, with their parts, from totals."""
    functions: dict[str, Function] = {}
    for metric in metrics_of(kind):
        functions |= {metric.name: metric.function, **metric.parts}
    return lambda totals: {name: function(totals) for name, function in functions.items()}


def totals_named(*names: str) -> Measure:
    """Return the function that returns some of the totals."""
    return lambda totals: {name: totals[name] for name in names}


def evaluated(kind: str, totals: Totals) -> tuple[dict[str, float], dict[str, int]]:
    """Return the metrics of a kind that are defined for the totals of a test set, and its counts."""
    metrics = {name: float(value) for name, value in measure_of(kind)(totals).items() if not np.isnan(value)}
    return metrics, {name: int(value) for name, value in COUNTERS[kind](totals).items()}


def scored(kind: str, columns: Columns, units: Sequence[int] | None = None) -> Scored:
    """Sum the contributions of examples (at least one) and compute metrics and counts. `units`: the unit
    index of each example; None if each example is its own unit."""
    by_example = np.array(list(columns.values()), dtype=np.float64).T
    values = np.zeros((max(units) + 1, len(columns))) if units else by_example.copy()
    if units:
        np.add.at(values, units, by_example)
    contributions = Contributions(tuple(columns), values)
    return Scored(*evaluated(kind, contributions.totals()), contributions)


def dev_scores(kind: str, task: str | None = None) -> list[str]:
    """Return the names of the metrics that can choose weights, for a kind or also a task."""
    return [metric.name for metric in metrics_of(kind, task) if metric.chooses is not None]


COUNTS = ("gold", "predicted", "correct")
NO_PREDICTION = "(no-prediction)"
"""Label of an example without a prediction, which is wrong: no label is predicted for it. As the answer to a
question, no gold answer shares a word with it."""

Place = tuple[Collection[str], Collection[str]]
"""The gold classes and the predicted classes of an item."""


class Tally(NamedTuple):
    """Counts of one class, or of several together: in the gold, predicted, and both."""

    gold: Array
    predicted: Array
    correct: Array

    def f1(self) -> Array:
        """2 x correct / (gold + predicted), the harmonic mean of precision and recall where both are defined;
        nan without gold and predictions."""
        return quotient(2 * self.correct, self.gold + self.predicted)

    def present(self) -> Array:
        """1 where the class is in the gold or predicted, else 0."""
        return np.where(self.gold + self.predicted > 0, 1.0, 0.0)


def quotient(part: Array, whole: Array, otherwise: float = np.nan) -> Array:
    """Divide; nan, or another value, where the denominator is 0."""
    quotients = np.full(np.shape(whole), otherwise)
    np.divide(part, whole, out=quotients, where=np.asarray(whole != 0))
    return quotients


def ratio(part: Array, whole: Array) -> Array:
    """Divide; 0 where the denominator is 0, as in conlleval and seqeval."""
    return quotient(part, whole, 0.0)


def f1_of(prefix: str = "") -> Function:
    """Return the function that computes F1 from the totals `gold`, `predicted`, `correct` after `prefix`."""
    gold, predicted, correct = (prefix + count for count in COUNTS)
    return lambda totals: ratio(2 * totals[correct], totals[gold] + totals[predicted])


def ratio_of(part: str, whole: str) -> Function:
    """Return the function that computes the ratio of two totals."""
    return lambda totals: ratio(totals[part], totals[whole])


def precision_of(prefix: str = "") -> Function:
    """Return the function that computes the share of the predicted items that are correct."""
    return ratio_of(f"{prefix}correct", f"{prefix}predicted")


def recall_of(prefix: str = "") -> Function:
    """Return the function that computes the share of the gold items that are found."""
    return ratio_of(f"{prefix}correct", f"{prefix}gold")


def where_any(total: str, function: Function) -> Function:
    """Return a function that is defined only where a total is above 0."""
    return lambda totals: np.where(totals[total] > 0, function(totals), np.nan)


def tally(family: str, examples: Sequence[Sequence[Place]]) -> dict[str, list[float]]:
    """Return the contribution of each example to the three counts of each class, as columns named
    `FAMILY:COUNT:CLASS`. `examples`: the items of each example."""
    columns: defaultdict[str, list[float]] = defaultdict(lambda: [0.0] * len(examples))
    for number, places in enumerate(examples):
        for gold, predicted in places:
            if not gold and not predicted:
                continue
            both = {*gold} & {*predicted}
            for count, classes in zip(COUNTS, ({*gold}, {*predicted}, both), strict=True):
                for name in classes:
                    columns[f"{family}:{count}:{name}"][number] += 1
    return dict(sorted(columns.items()))


def tallies(totals: Totals, *families: str) -> list[Tally]:
    """Return the tally of each class of these families in the totals."""
    parts = [name.split(":", 2) for name in totals if name.startswith(tuple(f"{f}:" for f in families))]
    none = _zeros(totals)
    return [
        Tally(*(totals.get(f"{family}:{count}:{name}", none) for count in COUNTS))
        for family, name in sorted({(family, name) for family, _, name in parts})
    ]


def pooled(classes: Sequence[Tally], totals: Totals) -> Tally:
    """Sum the tallies of several classes."""
    none = _zeros(totals)
    return Tally(*(sum((getattr(one, count) for one in classes), none) for count in COUNTS))


def mean_f1(classes: Sequence[Tally], counted: Sequence[Array], totals: Totals) -> Array:
    """Return the mean F1 of the classes that are `counted` (1, else 0), all of which are in the gold or
    predicted; nan if there are none."""
    none = _zeros(totals)
    scores = sum((np.nan_to_num(one.f1()) * is_ for one, is_ in zip(classes, counted, strict=True)), none)
    return quotient(scores, sum(counted, none))


def _zeros(totals: Totals) -> Array:
    """Return zeros in the shape of the totals, of which there is at least one."""
    return np.zeros(np.shape(next(iter(totals.values()))))
